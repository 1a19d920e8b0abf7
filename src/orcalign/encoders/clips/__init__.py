"""A whole clip → one embedding, by networks that see motion; the registry and `make_clip_encoder` are in `registry`."""
