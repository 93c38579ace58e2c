"""Gradients, Hessian-vector products and leading curvature of a loss that comes in parts.

A loss is the sum of a sequence of functions of one flat vector, so that only one part's graph is in memory at a time.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from torch import Tensor

from judgelab.errors import TrainingError

LossParts = Sequence[Callable[[Tensor], Tensor]]


def loss_at(parts: LossParts, point: Tensor) -> float:
    """The loss at a point."""
    with torch.no_grad():
        return sum(float(part(point)) for part in parts)


def gradient(parts: LossParts, point: Tensor) -> Tensor:
    """∇L at a point."""
    leaf = point.detach().requires_grad_()
    total = torch.zeros_like(point)
    for part in parts:
        total += torch.autograd.grad(part(leaf), leaf)[0]
    return total


def hessian_product(parts: LossParts, point: Tensor, direction: Tensor) -> Tensor:
    """∇²L·v by differentiating ∇L·v; exact, no Hessian is formed."""
    leaf = point.detach().requires_grad_()
    total = torch.zeros_like(point)
    for part in parts:
        (first,) = torch.autograd.grad(part(leaf), leaf, create_graph=True)
        total += torch.autograd.grad(first @ direction, leaf)[0]
    return total


def curvature_along(parts: LossParts, point: Tensor, direction: Tensor) -> float:
    """vᵀ∇²L·v / vᵀv."""
    return float(direction @ hessian_product(parts, point, direction) / direction.square().sum())


def leading_direction(parts: LossParts, point: Tensor, start: Tensor, tolerance: float) -> tuple[float, Tensor]:
    """The largest eigenvalue of ∇²L and its direction, by Lanczos from a starting vector (ARPACK).

    TrainingError where the eigenvalue is not found to the relative `tolerance`.
    """

    def product(vector: np.ndarray) -> np.ndarray:
        direction = torch.from_numpy(np.ascontiguousarray(vector, dtype=np.float32).ravel()).to(point)
        return hessian_product(parts, point, direction).cpu().numpy()

    size = point.numel()
    operator = LinearOperator((size, size), matvec=product, dtype=np.float32)
    try:
        # Four Lanczos vectors and restarts: a vector may have hundreds of millions of entries.
        values, vectors = eigsh(operator, k=1, which="LA", v0=start.cpu().numpy(), ncv=4, tol=tolerance, maxiter=20)
    except ArpackNoConvergence as error:
        raise TrainingError(
            f"the leading curvature was not found to a relative {tolerance:g} in 20 restarts: "
            "raise directions.tolerance"
        ) from error
    return float(values[0]), torch.from_numpy(np.ascontiguousarray(vectors[:, 0])).to(point)
