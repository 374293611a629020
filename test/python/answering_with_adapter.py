"""Prints the greedy answer of the tiny random model with an adapter.

  python answering_with_adapter.py EXAMPLES ADAPTER QUESTION
"""

import json
import sys

EXAMPLES, ADAPTER, QUESTION = sys.argv[1:]
sys.path.insert(0, EXAMPLES)

from peft import PeftModel  # noqa: E402
from tiny_model import tiny_model, tiny_tokenizer  # noqa: E402

tokenizer = tiny_tokenizer()
model = PeftModel.from_pretrained(tiny_model(tokenizer), ADAPTER).eval()
messages = [{"role": "user", "content": QUESTION}]
prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)
tokens = model.generate(**prompt, max_new_tokens=8, do_sample=False)
print(json.dumps(tokenizer.decode(tokens[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)))
