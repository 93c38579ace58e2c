"""Calculators of blood chemistry."""

from judgelab.synthesis.medcalc import units
from judgelab.synthesis.medcalc.calculator import Calculator, Quantity
from judgelab.synthesis.medcalc.variables import AGE, ALBUMIN, BICARBONATE, CHLORIDE, GLUCOSE, SODIUM

CALCIUM = Quantity("calcium", "serum calcium", "mg/dL", "Calcium", units.CALCIUM)
UREA_NITROGEN = Quantity(
    "urea_nitrogen", "blood urea nitrogen", "mg/dL", "Blood Urea Nitrogen (BUN)", units.UREA_NITROGEN
)
INSULIN = Quantity("insulin", "fasting insulin", "µIU/mL", "Insulin", units.MICRO_UNITS_PER_MILLILITRE)
TOTAL = Quantity("cholesterol", "total cholesterol", "mg/dL", "Total cholesterol", units.CHOLESTEROL)
HDL = Quantity("hdl", "HDL cholesterol", "mg/dL", "high-density lipoprotein cholesterol", units.CHOLESTEROL)
TRIGLYCERIDES = Quantity("triglycerides", "triglycerides", "mg/dL", "Triglycerides", units.TRIGLYCERIDES)
AST = Quantity("ast", "aspartate aminotransferase", "U/L", "Aspartate aminotransferase", units.UNITS_PER_LITRE)
ALT = Quantity("alt", "alanine aminotransferase", "U/L", "Alanine aminotransferase", units.UNITS_PER_LITRE)
PLATELETS = Quantity("platelets", "platelet count", "10^9/L", "Platelet count", units.BILLIONS_PER_LITRE)

ANIONS = (SODIUM, CHLORIDE, BICARBONATE)
GAP = "sodium - (chloride + bicarbonate)"
CORRECTED_GAP = f"{GAP} + 2.5 * (4 - albumin)"

CALCULATORS = (
    Calculator(7, "Corrected Calcium", "mg/dL", "calcium + 0.8 * (4 - albumin)", (CALCIUM, ALBUMIN)),
    Calculator(
        19,
        "FIB-4 Index",
        "",
        "age * ast / (platelets * sqrt(alt))",
        (AGE, AST, PLATELETS, ALT),
    ),
    Calculator(26, "Corrected Sodium (Hillier)", "mEq/L", "sodium + 0.024 * (glucose - 100)", (SODIUM, GLUCOSE)),
    Calculator(
        30,
        "Serum Osmolality",
        "mOsm/kg",
        "2 * sodium + urea_nitrogen / 2.8 + glucose / 18",
        (SODIUM, UREA_NITROGEN, GLUCOSE),
    ),
    Calculator(31, "HOMA-IR", "", "insulin * glucose / 405", (INSULIN, GLUCOSE)),
    Calculator(39, "Anion Gap", "mEq/L", GAP, ANIONS),
    Calculator(
        44,
        "LDL Cholesterol (Friedewald)",
        "mg/dL",
        "cholesterol - hdl - triglycerides / 5",
        (TOTAL, HDL, TRIGLYCERIDES),
    ),
    Calculator(63, "Delta Gap", "mEq/L", f"{GAP} - 12", ANIONS),
    Calculator(64, "Delta Ratio", "", f"({GAP} - 12) / (24 - bicarbonate)", ANIONS),
    Calculator(65, "Albumin-Corrected Anion Gap", "mEq/L", CORRECTED_GAP, (*ANIONS, ALBUMIN)),
    Calculator(66, "Albumin-Corrected Delta Gap", "mEq/L", f"{CORRECTED_GAP} - 12", (*ANIONS, ALBUMIN)),
    Calculator(
        67, "Albumin-Corrected Delta Ratio", "", f"({CORRECTED_GAP} - 12) / (24 - bicarbonate)", (*ANIONS, ALBUMIN)
    ),
)
