"""Factors from a unit as the benchmark writes it into the unit that a formula wants."""

from collections.abc import Mapping

Factors = Mapping[str, float]

YEARS: Factors = {"years": 1.0, "months": 1 / 12, "weeks": 7 / 365.25, "days": 1 / 365.25}
KILOGRAMS: Factors = {"kg": 1.0, "g": 1e-3, "lb": 0.45359237, "lbs": 0.45359237}
CENTIMETRES: Factors = {"cm": 1.0, "m": 100.0, "in": 2.54, "ft": 30.48}
METRES: Factors = {unit: factor / 100 for unit, factor in CENTIMETRES.items()}
MILLISECONDS: Factors = {"msec": 1.0, "ms": 1.0, "sec": 1000.0}
BEATS_PER_MINUTE: Factors = {"beats per minute": 1.0}
MILLIMETRES_OF_MERCURY: Factors = {"mm hg": 1.0, "mmHg": 1.0}
BODY_MASS_INDEX: Factors = {"kg/m^2": 1.0}
UNITS_PER_LITRE: Factors = {"U/L": 1.0, "IU/L": 1.0}
MICRO_UNITS_PER_MILLILITRE: Factors = {"µIU/mL": 1.0, "mIU/L": 1.0}
GRAMS_PER_DECILITRE: Factors = {"g/dL": 1.0, "g/L": 0.1, "mg/dL": 1e-3}
BILLIONS_PER_LITRE: Factors = {"L": 1e-9, "mL": 1e-6, "µL": 1e-3, "mm^3": 1e-3}
# Ions of one charge (sodium, chloride, bicarbonate): an equivalent is a mole.
MILLIEQUIVALENTS_PER_LITRE: Factors = {"mEq/L": 1.0, "mmol/L": 1.0, "mEq/dL": 10.0, "mmol/dL": 10.0}


def milligrams_per_decilitre(grams_per_mole: float) -> Factors:
    """Factors into mg/dL for a substance of this molar mass."""
    per_millimole = grams_per_mole / 10  # mmol/L -> mg/dL
    return {
        "mg/dL": 1.0,
        "g/dL": 1e3,
        "g/L": 1e2,
        "mg/L": 0.1,
        "µg/dL": 1e-3,
        "mmol/L": per_millimole,
        "µmol/L": per_millimole / 1e3,
    }


CREATININE = milligrams_per_decilitre(113.12)
GLUCOSE = milligrams_per_decilitre(180.16)
UREA_NITROGEN = milligrams_per_decilitre(28.014)  # a mole of urea carries two of nitrogen
CALCIUM = {**milligrams_per_decilitre(40.078), "mEq/L": 40.078 / 20}  # two charges
CHOLESTEROL = milligrams_per_decilitre(386.65)
TRIGLYCERIDES = milligrams_per_decilitre(885.4)
