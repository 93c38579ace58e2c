"""Calculators of body size, fluids and blood pressure."""

from judgelab.synthesis.medcalc import units
from judgelab.synthesis.medcalc.calculator import Calculator, Quantity
from judgelab.synthesis.medcalc.variables import HEIGHT, HEIGHT_IN_METRES, IDEAL_WEIGHT, SEX, WEIGHT

SYSTOLIC = Quantity(
    "systolic", "systolic blood pressure", "mmHg", "Systolic Blood Pressure", units.MILLIMETRES_OF_MERCURY
)
DIASTOLIC = Quantity(
    "diastolic", "diastolic blood pressure", "mmHg", "Diastolic Blood Pressure", units.MILLIMETRES_OF_MERCURY
)
TARGET_BMI = Quantity(
    "target_bmi", "body mass index to reach", "kg/m^2", "Body Mass Index (BMI)", units.BODY_MASS_INDEX
)

CALCULATORS = (
    Calculator(5, "Mean Arterial Pressure", "mmHg", "(2 * diastolic + systolic) / 3", (SYSTOLIC, DIASTOLIC)),
    Calculator(6, "Body Mass Index", "kg/m^2", "weight / height ** 2", (WEIGHT, HEIGHT_IN_METRES)),
    Calculator(10, "Ideal Body Weight", "kg", IDEAL_WEIGHT.formula, (SEX, HEIGHT)),
    Calculator(
        22,
        "Maintenance Fluids",
        "mL/h",
        "4 * weight if weight <= 10 else 40 + 2 * (weight - 10) if weight <= 20 else 60 + (weight - 20)",
        (WEIGHT,),
    ),
    Calculator(60, "Body Surface Area", "m^2", "sqrt(height * weight / 3600)", (HEIGHT, WEIGHT)),
    Calculator(61, "Target Weight", "kg", "target_bmi * height ** 2", (TARGET_BMI, HEIGHT_IN_METRES)),
    Calculator(
        62,
        "Adjusted Body Weight",
        "kg",
        "ideal_weight + 0.4 * (weight - ideal_weight)",
        (SEX, HEIGHT, WEIGHT),
        (IDEAL_WEIGHT,),
    ),
)
