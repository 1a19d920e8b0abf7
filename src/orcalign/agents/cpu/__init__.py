"""Networks for states on a CPU by hand: layers without autograd, an action without torch, half an update elsewhere."""
