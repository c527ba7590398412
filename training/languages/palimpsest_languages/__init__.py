"""The encoder of many languages for Palimpsest: `encoder.onnx` and its `tokenizer.json`."""
