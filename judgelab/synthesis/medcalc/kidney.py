"""Calculators of kidney function and water balance."""

from judgelab.synthesis.medcalc import units
from judgelab.synthesis.medcalc.calculator import Calculator, Category, Quantity, Step
from judgelab.synthesis.medcalc.variables import AGE, CREATININE, HEIGHT, IDEAL_WEIGHT, SEX, SODIUM, WEIGHT

RACE = Category("race", "'black' or 'other'", "race", ("black", "other"), absent="other")
URINE_SODIUM = Quantity("urine_sodium", "sodium in urine", "mEq/L", "Urine sodium", units.MILLIEQUIVALENTS_PER_LITRE)
URINE_CREATININE = Quantity("urine_creatinine", "creatinine in urine", "mg/dL", "Urine creatinine", units.CREATININE)
BMI = Step("bmi", "body mass index", "kg/m^2", "weight / (height / 100) ** 2")
# Below a BMI of 18.5 the weight itself, then the lower of ideal and actual, and the adjusted one from 25.
ADJUSTED_WEIGHT = Step(
    "adjusted_weight",
    "weight that the equation takes: actual, ideal or adjusted, by body mass index",
    "kg",
    "weight if bmi < 18.5 else min(ideal_weight, weight) if bmi < 25 else ideal_weight + 0.4 * (weight - ideal_weight)",
)
BODY_WATER = Step(
    "body_water",
    "share of water in the body, by age and sex",
    "",
    "0.6 if age < 18 else (0.6 if sex == 'male' else 0.5) if age < 65 else (0.5 if sex == 'male' else 0.45)",
)

CALCULATORS = (
    Calculator(
        2,
        "Creatinine Clearance (Cockcroft-Gault)",
        "mL/min",
        "(140 - age) * adjusted_weight * (1 if sex == 'male' else 0.85) / (creatinine * 72)",
        (AGE, SEX, WEIGHT, HEIGHT, CREATININE),
        (IDEAL_WEIGHT, BMI, ADJUSTED_WEIGHT),
    ),
    Calculator(
        3,
        "Glomerular Filtration Rate (CKD-EPI 2021)",
        "mL/min/1.73 m^2",
        "142 * (creatinine / (0.9 if sex == 'male' else 0.7)) ** "
        "((-0.302 if creatinine <= 0.9 else -1.2) if sex == 'male' else (-0.241 if creatinine <= 0.7 else -1.2)) "
        "* 0.9938 ** age * (1 if sex == 'male' else 1.012)",
        (AGE, SEX, CREATININE),
    ),
    Calculator(
        9,
        "Glomerular Filtration Rate (MDRD)",
        "mL/min/1.73 m^2",
        "175 * creatinine ** -1.154 * age ** -0.203 * (1.212 if race == 'black' else 1) "
        "* (1 if sex == 'male' else 0.742)",
        (AGE, SEX, RACE, CREATININE),
    ),
    Calculator(
        38,
        "Free Water Deficit",
        "L",
        "body_water * weight * (sodium / 140 - 1)",
        (AGE, SEX, WEIGHT, SODIUM),
        (BODY_WATER,),
    ),
    Calculator(
        40,
        "Fractional Excretion of Sodium",
        "%",
        "100 * creatinine * urine_sodium / (sodium * urine_creatinine)",
        (CREATININE, URINE_SODIUM, SODIUM, URINE_CREATININE),
    ),
)
