"""Figure 11: networks that learn from one part of the images."""
