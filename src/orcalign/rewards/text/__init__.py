"""One sentence as the goal: every frame is paid by how much it is like it (LIV, Ma et al., 2023)."""
