"""Memory: what the launch needs on each device, and what is free there."""
