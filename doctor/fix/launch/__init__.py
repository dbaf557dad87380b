"""Changes of a launch command carried out in the file it is written in."""
