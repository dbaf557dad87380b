"""The graph of one step as llama.cpp builds it, shared out between devices and laid into buffers: the compute buffers."""
