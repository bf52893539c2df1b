"""The words for time in the languages that expiry reads, and how such tables are written."""


def word_set(text: str) -> frozenset[str]:
    """Read a set of words that are written one after the other."""
    return frozenset(text.split())


def _named(text: str) -> dict[str, str]:
    """Read "name name=meaning" lines: every name on a line has the meaning at its end; ``_`` is a space."""
    table: dict[str, str] = {}
    for line in text.strip().splitlines():
        names, meaning = line.rsplit("=", 1)
        table.update({name.replace("_", " "): meaning.replace("_", " ") for name in names.split()})
    return table


def _table(text: str) -> dict[str, int]:
    """Read the same lines where the meaning is a number."""
    return {name: int(meaning) for name, meaning in _named(text).items()}


MONTHS = _table("""
january jan januar jänner enero janvier janeiro=1
february feb februar febrero février fevereiro=2
march mar märz marzo mars março=3
april apr abril avril=4
may mai mayo maio=5
june jun juni junio juin junho=6
july jul juli julio juillet julho=7
august aug agosto août=8
september sept sep septiembre septembre setembro=9
october oct oktober okt octubre octobre outubro=10
november nov noviembre novembre novembro=11
december dec dezember dez diciembre décembre dezembro=12
""")

WEEKDAYS = _table("""
monday montag lunes lundi segunda segunda-feira 周一 星期一=0
tuesday tue tues dienstag martes mardi terça terça-feira 周二 星期二=1
wednesday wed mittwoch miércoles mercredi quarta quarta-feira 周三 星期三=2
thursday thu thurs donnerstag jueves jeudi quinta quinta-feira 周四 星期四=3
friday fri freitag viernes vendredi sexta sexta-feira 周五 星期五=4
saturday samstag sonnabend sábado samedi 周六 星期六=5
sunday sonntag domingo dimanche 周日 星期日 星期天=6
""")

DAYS_AHEAD = _table("""
today tonight this_morning this_afternoon this_evening heute heute_abend hoy esta_noche esta_tarde=0
aujourd'hui ce_soir hoje 今天 今晚 今日=0
tomorrow morgen_früh morgen_vormittag morgen_nachmittag bis_morgen ab_morgen hasta_mañana=1
mañana_por_la_mañana demain amanhã 明天 明早=1
overmorrow the_day_after_tomorrow day_after_tomorrow übermorgen pasado_mañana après-demain 后天=2
""")

SPANS = _named("""
this_week rest_of_the_week end_of_the_week diese_woche dieser_woche esta_semana=week
cette_semaine 本周 这周 这个星期=week
next_week nächste_woche nächster_woche la_semana_que_viene la_próxima_semana=next_week
semaine_prochaine semana_que_vem próxima_semana 下周 下星期=next_week
this_sprint the_sprint current_sprint dieser_sprint diesen_sprint este_sprint ce_sprint=sprint
本次迭代 这个迭代 本迭代=sprint
next_sprint nächsten_sprint nächster_sprint próximo_sprint prochain_sprint 下个迭代=next_sprint
this_month end_of_the_month end_of_month month-end diesen_monat monatsende=month
ende_des_monats este_mes fin_de_mes ce_mois fin_du_mois este_mês fim_do_mês 本月 月底 这个月=month
next_month nächsten_monat el_mes_que_viene próximo_mes mois_prochain mês_que_vem=next_month
próximo_mês 下个月 下月=next_month
this_quarter end_of_the_quarter end_of_quarter dieses_quartal quartalsende=quarter
este_trimestre ce_trimestre 本季度 季度末=quarter
next_quarter nächstes_quartal nächsten_quartal próximo_trimestre trimestre_prochain 下季度=next_quarter
this_year end_of_the_year end_of_year year-end dieses_jahr jahresende este_año=year
fin_de_año cette_année fin_d'année este_ano fim_do_ano 今年 年底=year
""")

NUMBERS = _table("""
a an one ein eine einen einer einem un una une um uma 一=1
two zwei dos deux dois duas couple paar 两 二=2
three drei tres trois três few 三=3
four vier cuatro quatre quatro 四=4
five fünf cinco cinq 五=5
six sechs seis 六=6
seven sieben siete sept sete 七=7
eight acht ocho huit oito 八=8
nine neun nueve neuf nove 九=9
ten zehn diez dix dez 十=10
twelve zwölf doce douze doze=12
fourteen vierzehn catorce quatorze=14
""")

UNITS = _table("""
hour hours stunde stunden hora horas heure heures 小时=1
day days tag tage tagen día días dia dias jour jours 天=24
week weeks woche wochen semana semanas semaine semaines 周 星期=168
fortnight=336
sprint sprints=336
month months monat monate monaten mes meses mois mês 个月=720
year years jahr jahre jahren año años an ans ano anos=8760
""")
