"""RoboCLIP: how much a whole clip is like the demo's, paid at the last step (Sontakke et al., 2023)."""
