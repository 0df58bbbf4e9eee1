"""Figure 12: learning curves of support vector machines."""
