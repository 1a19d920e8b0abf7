"""What the page of a training run is made from: the folder read, its curves, its words, its shown episodes."""
