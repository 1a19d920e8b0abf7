"""Names of Meta-world's v3 tasks, known without importing it."""

METAWORLD_NAMES: tuple[str, ...] = (
    "assembly", "basketball", "bin-picking", "box-close", "button-press", "button-press-topdown",
    "button-press-topdown-wall", "button-press-wall", "coffee-button", "coffee-pull", "coffee-push", "dial-turn",
    "disassemble", "door-close", "door-lock", "door-open", "door-unlock", "drawer-close", "drawer-open",
    "faucet-close", "faucet-open", "hammer", "hand-insert", "handle-press", "handle-press-side", "handle-pull",
    "handle-pull-side", "lever-pull", "peg-insert-side", "peg-unplug-side", "pick-out-of-hole", "pick-place",
    "pick-place-wall", "plate-slide", "plate-slide-back", "plate-slide-back-side", "plate-slide-side", "push",
    "push-back", "push-wall", "reach", "reach-wall", "shelf-place", "soccer", "stick-pull", "stick-push", "sweep",
    "sweep-into", "window-close", "window-open",
)  # fmt: skip
