"""The linear space that several adapters' updates span: a point in it is one flat vector, and a merge is a line."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from judgelab.models.lora_factors import LoraFactors


class UpdateSpace:
    """All updates ΔW = C·Qᵀ with Q [in, k] an orthonormal basis of what the adapters read, for each projection.

    Coordinates C [out, k] of all projections make one vector. Lengths and angles of vectors are those of the updates
    in Frobenius norm, so that gradients and curvatures are those of the dense weights restricted to the space.
    """

    def __init__(self, experts: Sequence[Mapping[str, LoraFactors]]) -> None:
        self.names = list(experts[0])
        self._bases: dict[str, Tensor] = {}
        self._shapes: dict[str, tuple[int, int]] = {}
        for name in self.names:
            read = torch.cat([expert[name].a for expert in experts]).double()
            basis = torch.linalg.qr(read.T).Q.float()
            self._bases[name] = basis
            self._shapes[name] = (len(experts[0][name].b), basis.shape[1])

    @property
    def size(self) -> int:
        """Length of a vector."""
        return sum(rows * columns for rows, columns in self._shapes.values())

    def vector(self, expert: Mapping[str, LoraFactors]) -> Tensor:
        """An expert's update; exact for the experts that the space was made of."""
        parts = [expert[name].scaling * expert[name].b @ (expert[name].a @ self._bases[name]) for name in self.names]
        return torch.cat([part.flatten() for part in parts])

    def update(self, point: Tensor, name: str) -> Tensor:
        """ΔW [out, in] of one projection."""
        return self._coordinates(point)[name] @ self._bases[name].to(point.device).T

    @contextmanager
    def at(self, model: nn.Module, point: Tensor) -> Iterator[nn.Module]:
        """The model with the point's update; gradients flow to the point."""
        handles = []
        for name, coordinates in self._coordinates(point).items():
            basis = self._bases[name].to(point.device)
            handles.append(model.get_submodule(name).register_forward_hook(_adding(coordinates, basis)))
        try:
            yield model
        finally:
            for handle in handles:
                handle.remove()

    def _coordinates(self, point: Tensor) -> dict[str, Tensor]:
        sizes = [rows * columns for rows, columns in self._shapes.values()]
        parts = zip(self.names, torch.split(point, sizes), strict=True)
        return {name: part.view(self._shapes[name]) for name, part in parts}


def _adding(coordinates: Tensor, basis: Tensor):  # type: ignore[no-untyped-def]
    def hook(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        added = linear(linear(inputs[0].to(basis.dtype), basis.T), coordinates)
        return output + added.to(output.dtype)

    return hook
