"""A guard against adapters that silently do not learn."""

from torch.nn import Module

from judgelab.errors import TrainingError


def check_lora_gradients(model: Module) -> None:
    """Raise TrainingError when a trainable `lora_B` got no gradient in the first step.

    `lora_A` is exempt: its gradient is exactly zero at the start, since `lora_B` starts at zero.
    """
    trainable = {n: p for n, p in model.named_parameters() if "lora_B" in n and p.requires_grad}
    if not trainable:
        raise TrainingError("the model has no trainable lora_B: check model.lora.target_modules")
    dead = [name for name, p in trainable.items() if p.grad is None or not bool(p.grad.any())]
    if dead:
        raise TrainingError(
            f"{len(dead)} of {len(trainable)} adapter matrices got no gradient in the first step, "
            f"first {dead[0]}: check model.lora.target_modules and hardware.gradient_checkpointing"
        )
