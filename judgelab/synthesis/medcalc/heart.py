"""The QT interval corrected for heart rate, by five formulas; 60 / heart_rate is the RR interval in seconds."""

from judgelab.synthesis.medcalc.calculator import Calculator
from judgelab.synthesis.medcalc.variables import HEART_RATE, QT

CALCULATORS = (
    Calculator(11, "QTc (Bazett)", "ms", "qt / sqrt(60 / heart_rate)", (QT, HEART_RATE)),
    Calculator(56, "QTc (Fridericia)", "ms", "qt / (60 / heart_rate) ** (1 / 3)", (QT, HEART_RATE)),
    Calculator(57, "QTc (Framingham)", "ms", "qt + 154 * (1 - 60 / heart_rate)", (QT, HEART_RATE)),
    Calculator(58, "QTc (Hodges)", "ms", "qt + 1.75 * (heart_rate - 60)", (QT, HEART_RATE)),
    Calculator(59, "QTc (Rautaharju)", "ms", "qt * (120 + heart_rate) / 180", (QT, HEART_RATE)),
)
