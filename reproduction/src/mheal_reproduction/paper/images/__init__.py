"""Tables 3, 4 and 5 with Figures 13 to 21: networks that learn from few labelled images."""
