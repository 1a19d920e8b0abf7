"""DrQ-v2 for states on a CPU by hand: an update without autograd, an action without torch."""
