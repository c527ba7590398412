"""Reviews and rejections."""
