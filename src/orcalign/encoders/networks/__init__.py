"""The neural networks, in our own words; each takes normalised [B,3,S,S] floats.

These modules import torch at the top, so they are themselves imported only inside functions, at the moment
a network is built.
"""
