"""Inputs that several calculators share."""

from judgelab.synthesis.medcalc import units
from judgelab.synthesis.medcalc.calculator import Category, Quantity, Step

AGE = Quantity("age", "age of the patient", "years", "age", units.YEARS, whole=True)
SEX = Category("sex", "sex of the patient, 'male' or 'female'", "sex", ("male", "female"))
WEIGHT = Quantity("weight", "body weight", "kg", "weight", units.KILOGRAMS)
HEIGHT = Quantity("height", "body height", "cm", "height", units.CENTIMETRES)
HEIGHT_IN_METRES = Quantity("height", "body height", "m", "height", units.METRES)
CREATININE = Quantity("creatinine", "serum creatinine", "mg/dL", "creatinine", units.CREATININE)
SODIUM = Quantity("sodium", "serum sodium", "mEq/L", "Sodium", units.MILLIEQUIVALENTS_PER_LITRE)
CHLORIDE = Quantity("chloride", "serum chloride", "mEq/L", "Chloride", units.MILLIEQUIVALENTS_PER_LITRE)
BICARBONATE = Quantity("bicarbonate", "serum bicarbonate", "mEq/L", "Bicarbonate", units.MILLIEQUIVALENTS_PER_LITRE)
ALBUMIN = Quantity("albumin", "serum albumin", "g/dL", "Albumin", units.GRAMS_PER_DECILITRE)
GLUCOSE = Quantity("glucose", "serum glucose", "mg/dL", "Glucose", units.GLUCOSE)
QT = Quantity("qt", "QT interval", "ms", "QT interval", units.MILLISECONDS)
HEART_RATE = Quantity("heart_rate", "heart rate", "beats/min", "Heart Rate or Pulse", units.BEATS_PER_MINUTE)

IDEAL_WEIGHT = Step(
    "ideal_weight",
    "ideal body weight from sex and height",
    "kg",
    "(50 if sex == 'male' else 45.5) + 2.3 * (height / 2.54 - 60)",
)
