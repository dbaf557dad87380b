"""What happens on a machine while it is watched: samples, taken one by one, and what they amount to."""
