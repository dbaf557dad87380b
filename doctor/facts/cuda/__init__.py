"""CUDA toolkits and libraries."""
