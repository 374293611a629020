"""Fine-tunes with TRL and PEFT. A checkpoint is a LoRA adapter, from which the next job goes on:

    pip install torch transformers trl peft
    TALLYTREE_API_KEY=… python trl_worker.py --base-model Qwen/Qwen3-0.6B

A base model is a name on the Hugging Face hub, or a path with --model. With --random-tiny it is a small random model,
to try the worker out on any machine. Batches have the order of the file, and the learning rate is constant.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from trl import SFTConfig, SFTTrainer

from protocol import Job, JobFailed
from tiny_model import tiny_model, tiny_tokenizer
from worker import run_worker, worker_options

Message = dict[str, str]

DEFAULT_BATCH_SIZE = 2
DEFAULT_LEARNING_RATE = 5e-5


def main() -> int:
    parser = worker_options("Fine-tunes with TRL and PEFT.")
    parser.add_argument("--model", help="a path or a name to load in place of that of the base model")
    parser.add_argument("--random-tiny", action="store_true", help="train a small random model")
    parser.add_argument("--rank", type=int, default=16, help="of new adapters (default: 16)")
    parser.add_argument("--max-length", type=int, default=1024, help="of a conversation in tokens (default: 1024)")
    options = parser.parse_args()

    def train(job: Job) -> None:
        with tempfile.TemporaryDirectory(prefix="job-") as directory:
            train_in(Path(directory), job, options)

    return run_worker(options, train)


def train_in(directory: Path, job: Job, options: argparse.Namespace) -> None:
    if job.kind != "sft":
        raise JobFailed("This worker only trains fine-tuning jobs.")
    rate = job.config.get("learning_rate")
    if isinstance(rate, list):
        raise JobFailed("This worker needs one learning rate for all batches.")
    only_last = job.config.get("assistant_turns") == "last"
    inputs = job.download(directory)
    conversations = [conversation_in(line, at) for at, line in lines_of(inputs.data)]
    held_out = (
        [] if inputs.validation is None else [conversation_in(line, at) for at, line in lines_of(inputs.validation)]
    )
    # Other conversations need a chat template that marks what the assistant wrote.
    as_completion = only_last or all(has_one_answer(one) for one in conversations + held_out)
    rows = [row_of(one, as_completion) for one in conversations]
    model, tokenizer = load(job.base_model, inputs.checkpoint, options)
    arguments = SFTConfig(
        output_dir=str(directory / "trainer"),
        num_train_epochs=job.config.get("epochs") or 1,
        per_device_train_batch_size=batch_size_of(job.config.get("batch_size")),
        learning_rate=DEFAULT_LEARNING_RATE if rate is None else rate,
        lr_scheduler_type="constant",
        train_sampling_strategy="sequential",
        assistant_only_loss=not as_completion,
        max_length=options.max_length,
        use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
    )
    reporting = Reporting(job)
    try:
        trainer = SFTTrainer(
            model,
            arguments,
            train_dataset=Dataset.from_list(rows),
            eval_dataset=Dataset.from_list([row_of(one, as_completion) for one in held_out]) if held_out else None,
            processing_class=tokenizer,
            callbacks=[reporting],
        )
    except ValueError as error:
        # Such as a chat template without marks of what the assistant wrote.
        raise JobFailed(f"TRL cannot train this job: {error}") from error
    trainer.train()
    job.require_lease()
    reporting.finish(trainer.evaluate()["eval_loss"] if held_out else None)
    output = directory / "output"
    model.save_pretrained(output)
    job.complete(output)


class Reporting(TrainerCallback):
    """Reports each logging step, and stops the training once the job is lost."""

    def __init__(self, job: Job) -> None:
        self._job = job
        # The last one also has the validation loss.
        self._waiting: dict[str, Any] | None = None

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self._job.report_start(state.max_steps)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        # The logs at the end of the training and of an evaluation have no loss.
        if logs is None or "loss" not in logs:
            return
        metrics = {name: float(value) for name, value in logs.items()}
        if not math.isfinite(metrics["loss"]):
            raise JobFailed("The loss is not finite. Use a lower learning rate.")
        self.finish()
        self._waiting = metrics

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if self._job.should_stop:
            control.should_training_stop = True

    def finish(self, validation_loss: float | None = None) -> None:
        if self._waiting is not None:
            more = {} if validation_loss is None else {"validation_loss": validation_loss}
            self._job.report_step({**self._waiting, **more})
            self._waiting = None


def load(
    base_model: str, checkpoint: Path | None, options: argparse.Namespace
) -> tuple[PeftModel, PreTrainedTokenizerBase]:
    """The base model with the adapter of a checkpoint, or with a new one."""
    base, tokenizer = load_base(options.model or base_model, options.random_tiny)
    if checkpoint is not None:
        return PeftModel.from_pretrained(base, checkpoint, is_trainable=True), tokenizer
    # A random model learns nothing from small changes of its layers alone.
    whole = ["embed_tokens", "lm_head"] if options.random_tiny else None
    adapter = LoraConfig(
        task_type="CAUSAL_LM",
        r=options.rank,
        lora_alpha=2 * options.rank,
        target_modules="all-linear",
        modules_to_save=whole,
    )
    return get_peft_model(base, adapter), tokenizer


def load_base(name: str, random_tiny: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    if random_tiny:
        tokenizer = tiny_tokenizer()
        return tiny_model(tokenizer), tokenizer
    try:
        return AutoModelForCausalLM.from_pretrained(name, dtype="auto"), AutoTokenizer.from_pretrained(name)
    except OSError as error:
        raise JobFailed(f"The base model {name} cannot be loaded: {error}") from error


def lines_of(path: Path) -> list[tuple[int, str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [(at, line) for at, line in enumerate(lines, start=1) if line.strip()]


def conversation_in(line: str, at: int) -> list[Message]:
    row = json.loads(line)
    messages = row["messages"]
    if row.get("tools") or any(message.get("tool_calls") for message in messages):
        raise JobFailed(f"Line {at} uses tools, which this worker does not train.")
    if any(message.get("weight") == 0 for message in messages):
        raise JobFailed(f"Line {at} has a message with the weight 0, which this worker would train on.")
    read = [{"role": message["role"], "content": text_of(message.get("content"))} for message in messages]
    # What follows the last answer is not trained on.
    while read and read[-1]["role"] != "assistant":
        read.pop()
    if not read:
        raise JobFailed(f"Line {at} has no message of the role assistant.")
    return read


def text_of(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part["text"] for part in content)
    return content or ""


def has_one_answer(conversation: list[Message]) -> bool:
    return sum(message["role"] == "assistant" for message in conversation) == 1


def row_of(conversation: list[Message], as_completion: bool) -> dict[str, list[Message]]:
    if as_completion:
        return {"prompt": conversation[:-1], "completion": conversation[-1:]}
    return {"messages": conversation}


def batch_size_of(configured: Any) -> int:
    return configured if isinstance(configured, int) else DEFAULT_BATCH_SIZE


if __name__ == "__main__":
    sys.exit(main())
