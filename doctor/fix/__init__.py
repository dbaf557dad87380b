"""A remedy as a change of a file: what is changed, how it is written, and how it is taken back."""
