"""Word-for-word English for the words that carry a conversation in other languages.

The encoder was pretrained on English. Names and numbers mean the same to it in any language, but
"entschieden", "hasta" or "失败" do not, so the words that tell decisions, wishes, failures and times
apart are put into English before the classifier reads a sentence. Only its input is changed, never
a memory's text.
"""

import re
from functools import lru_cache

from memctl.extraction.timewords import word_set

_GERMAN = """
ich=I wir=we ihr=you sie=they er=he es=it du=you uns=us mir=me mich=me mein=my meine=my unser=our unsere=our
unseren=our der=the die=the das=the den=the dem=the des=of_the ein=a eine=a einen=a einem=a einer=a kein=no
keine=no keinen=no keiner=no und=and oder=or aber=but weil=because denn=because damit=so_that dass=that wenn=if
falls=if sonst=otherwise statt=instead ist=is sind=are war=was waren=were wird=will_be werden=will wurde=was
wurden=were bin=am hat=has haben=have hatte=had hatten=had sein=be soll=should sollen=should sollte=should
sollten=should muss=must müssen=must kann=can können=can könnte=could könnten=could will=want wollen=want
möchte=would_like möchten=would_like würde=would würden=would darf=may dürfen=may nicht=not nie=never
niemals=never immer=always nur=only auch=also noch=still schon=already jetzt=now heute=today morgen=tomorrow
gestern=yesterday übermorgen=the_day_after_tomorrow woche=week wochen=weeks monat=month monate=months
monaten=months tag=day tage=days tagen=days jahr=year jahre=years stunde=hour stunden=hours uhr=o'clock
vormittag=morning nachmittag=afternoon abend=evening montag=Monday dienstag=Tuesday mittwoch=Wednesday
donnerstag=Thursday freitag=Friday samstag=Saturday sonntag=Sunday januar=January februar=February märz=March
mai=May juni=June juli=July oktober=October dezember=December bis=until ab=from seit=since vor=before nach=after
während=during zwischen=between solange=as_long_as vorerst=for_now vorläufig=for_now momentan=at_the_moment
derzeit=currently aktuell=currently zurzeit=currently gerade=right_now bald=soon später=later künftig=in_future
nächste=next nächsten=next nächster=next letzte=last letzten=last diese=this dieser=this diesen=this dieses=this
diesem=this entschieden=decided entscheiden=decide entscheidung=decision beschlossen=decided beschluss=decision
festgelegt=fixed einigen=agree geeinigt=agreed einverstanden=agreed abgemacht=agreed vereinbart=agreed
bleibt=stays bleiben=stay nehmen=take nimmt=takes verwenden=use verwendet=uses nutzen=use nutzt=uses
benutzen=use setzen=set umgestellt=switched wechseln=switch umstellen=switch ersetzt=replaces ersetzen=replace
gilt=applies gelten=apply ändern=change geändert=changed neu=new neue=new neuen=new alt=old alte=old
bevorzuge=prefer bevorzugt=prefers lieber=rather gern=gladly gerne=gladly mag=like mögen=like wünscht=wishes
wunsch=wish bitte=please hasse=hate nervt=annoys besser=better schlechter=worse gut=good schlecht=bad
wichtig=important niemand=nobody jeder=everyone alle=all fehlgeschlagen=failed fehler=error scheitert=fails
gescheitert=failed funktioniert=works kaputt=broken abgestürzt=crashed absturz=crash problem=problem
leider=unfortunately versucht=tried versuch=attempt ging=went geht=goes klappt=works klappte=worked
gebracht=brought verworfen=discarded abgelehnt=rejected vermeiden=avoid verboten=forbidden ursache=cause
grund=reason deshalb=therefore deswegen=therefore läuft=runs laufen=run lief=ran liegt=lies steht=stands
heißt=is_called kostet=costs beträgt=amounts_to braucht=needs brauchen=need warten=wait wartet=waits
pausiert=paused gesperrt=locked geschlossen=closed offen=open fertig=finished erledigt=done fällig=due
frist=deadline urlaub=vacation krank=ill abwesend=absent zurück=back vertretung=stand-in vertritt=stands_in
zuständig=responsible verantwortlich=responsible leitet=leads übernimmt=takes_over übernehmen=take_over
kunde=customer kunden=customers lieferant=supplier vertrag=contract preis=price danke=thanks hallo=hello ja=yes
nein=no genau=exactly okay=okay vielleicht=maybe eventuell=possibly wahrscheinlich=probably glaube=believe
vorschlag=proposal vorschlage=propose option=option variante=variant warum=why wie=how was=what wer=who wo=where
welche=which wann=when für=for mit=with ohne=without von=of vom=of_the zu=to zum=to_the zur=to_the im=in_the
am=on_the an=at auf=on aus=from bei=at über=about unter=under gegen=against pro=per mindestens=at_least
höchstens=at_most maximal=at_most etwa=about rund=about mehr=more weniger=less als=than alles=everything
nichts=nothing etwas=something man=one hier=here dort=there so=so sehr=very ganz=quite
"""
_SPANISH = """
yo=I nosotros=we nos=us me=me mi=my mis=my nuestro=our nuestra=our él=he ella=she ellos=they usted=you tú=you
su=its sus=their el=the la=the los=the las=the un=a una=a unos=some y=and o=or pero=but porque=because si=if
sino=but_rather aunque=although es=is son=are era=was fue=was está=is están=are estaba=was ser=be estar=be
ha=has han=have hemos=have he=have hay=there_is había=there_was tiene=has tienen=have tenemos=have tengo=have
debe=must deben=must hay_que=must puede=can pueden=can podemos=can podría=could quiero=want quiere=wants
queremos=want quieren=want quisiera=would_like gustaría=would_like prefiero=prefer prefiere=prefers
preferimos=prefer prefieren=prefer mejor=better peor=worse gusta=likes odio=hate favor=favour no=not nunca=never
siempre=always solo=only sólo=only también=also todavía=still aún=still ya=already ahora=now hoy=today
mañana=tomorrow ayer=yesterday semana=week semanas=weeks mes=month meses=months día=day días=days año=year
años=years hora=hour horas=hours lunes=Monday martes=Tuesday miércoles=Wednesday jueves=Thursday viernes=Friday
sábado=Saturday domingo=Sunday tarde=afternoon noche=night enero=January febrero=February marzo=March
abril=April mayo=May junio=June julio=July agosto=August septiembre=September octubre=October noviembre=November
diciembre=December hasta=until desde=since antes=before después=after durante=during mientras=while
entre=between pronto=soon luego=later próximo=next próxima=next que_viene=next pasado=last pasada=last este=this
esta=this estos=these estas=these momento=moment actualmente=currently temporal=temporary
provisional=provisional decidido=decided decidimos=decided decidí=decided decisión=decision acordamos=agreed
acordado=agreed acuerdo=agreement quedamos=agreed queda=stays quedan=stay usamos=we_use usar=use usa=uses
usan=use usaremos=we_will_use vamos=we_go cambiamos=we_changed cambia=changes cambiar=change cambio=change
cambiado=changed pasamos=we_move pasa=moves sustituye=replaces reemplaza=replaces elegimos=we_chose nuevo=new
nueva=new viejo=old antiguo=old manda=rules vale=okay venga=okay claro=sure falló=failed falla=fails
fallo=failure fallaron=failed error=error errores=errors funciona=works funcionó=worked funcionan=work
roto=broken cayó=went_down caído=down problema=problem intentamos=we_tried intenté=I_tried probamos=we_tried
probé=I_tried evitar=avoid descartado=discarded descartamos=we_discarded rechazado=rejected prohibido=forbidden
causa=cause motivo=reason culpa=fault perdimos=we_lost tumbó=took_down corre=runs está_en=is_in vive=lives
llama=is_called cuesta=costs cuestan=cost necesita=needs necesitamos=we_need falta=is_missing esperar=wait
espera=wait esperando=waiting pausado=paused bloqueado=blocked cerrado=closed abierto=open listo=ready
hecho=done pendiente=pending plazo=deadline entrega=delivery vacaciones=vacation baja=leave vuelve=returns
responsable=responsible encarga=in_charge lleva=handles cliente=customer clientes=customers proveedor=supplier
contrato=contract precio=price gracias=thanks hola=hello sí=yes quizá=maybe quizás=maybe igual=maybe
tal_vez=maybe creo=believe propongo=propose propuesta=proposal opción=option por=for para=for con=with
sin=without de=of del=of_the al=to_the a=to en=in sobre=about contra=against cada=each mínimo=minimum
máximo=maximum más=more menos=less que=that como=like qué=what quién=who cuándo=when dónde=where cuál=which
todo=all todos=all nada=nothing algo=something nadie=nobody aquí=here allí=there muy=very tan=so así=thus
entonces=then
"""
_FRENCH = """
je=I nous=we on=we vous=you il=he elle=she ils=they mon=my ma=my mes=my notre=our nos=our son=his sa=his
ses=their leur=their le=the la=the les=the un=a une=a des=some du=of_the de=of et=and ou=or mais=but car=because
parce=because donc=so si=if sinon=otherwise est=is sont=are était=was étaient=were sera=will_be être=be a=has
ont=have avons=have ai=have avait=had faut=must doit=must doivent=must peut=can peuvent=can pouvons=can
pourrait=could veux=want veut=wants voulons=want voudrais=would_like préfère=prefer préfèrent=prefer
plutôt=rather mieux=better pire=worse aime=like déteste=hate pas=not ne=not jamais=never toujours=always
seulement=only aussi=also encore=still déjà=already maintenant=now aujourd'hui=today demain=tomorrow
hier=yesterday semaine=week semaines=weeks mois=month jour=day jours=days an=year ans=years heure=hour
heures=hours lundi=Monday mardi=Tuesday mercredi=Wednesday jeudi=Thursday vendredi=Friday samedi=Saturday
dimanche=Sunday matin=morning soir=evening janvier=January février=February mars=March avril=April mai=May
juin=June juillet=July août=August septembre=September octobre=October novembre=November décembre=December
jusqu'à=until jusqu'au=until depuis=since avant=before après=after pendant=during entre=between bientôt=soon
prochain=next prochaine=next dernier=last dernière=last ce=this cette=this décidé=decided décidons=we_decide
décision=decision convenu=agreed d'accord=agreed accord=agreement reste=stays restons=we_stay utilise=uses
utilisons=we_use utiliser=use prend=takes prenons=we_take passe=moves passons=we_move remplace=replaces
change=changes changé=changed nouveau=new nouvelle=new ancien=old échoué=failed échec=failure échoue=fails
erreur=error marche=works fonctionne=works plante=crashes planté=crashed cassé=broken problème=problem
essayé=tried éviter=avoid rejeté=rejected abandonné=dropped interdit=forbidden cause=cause raison=reason
tourne=runs coûte=costs s'appelle=is_called besoin=need attendre=wait attend=waits bloqué=blocked fermé=closed
ouvert=open fini=finished délai=deadline congé=leave congés=leave vacances=vacation absent=absent
revient=returns responsable=responsible client=customer fournisseur=supplier contrat=contract prix=price
merci=thanks bonjour=hello oui=yes non=no peut-être=maybe crois=believe propose=propose pour=for avec=with
sans=without dans=in en=in sur=on sous=under par=by chaque=each plus=more moins=less que=that qui=who quoi=what
tout=all tous=all rien=nothing personne=nobody ici=here très=very alors=then comme=like au=at_the aux=at_the
"""
_PORTUGUESE = """
eu=I nós=we nos=us me=me meu=my minha=my nosso=our nossa=our ele=he ela=she eles=they você=you seu=your
sua=your o=the a=the os=the as=the um=a uma=a e=and ou=or mas=but porque=because se=if então=so é=is são=are
era=was foi=was está=is estão=are ser=be tem=has têm=have temos=have tenho=have deve=must precisa=needs
precisamos=we_need pode=can podem=can podemos=can podíamos=could quero=want quer=wants queremos=want
prefiro=prefer prefere=prefers preferimos=prefer melhor=better pior=worse gosto=like gosta=likes não=not
nunca=never sempre=always só=only também=also ainda=still já=already agora=now hoje=today amanhã=tomorrow
ontem=yesterday semana=week semanas=weeks mês=month meses=months dia=day dias=days ano=year anos=years hora=hour
horas=hours segunda=Monday terça=Tuesday quarta=Wednesday quinta=Thursday sexta=Friday sábado=Saturday
domingo=Sunday até=until desde=since antes=before depois=after durante=during enquanto=while entre=between
próximo=next próxima=next passado=last esta=this este=this decidimos=we_decided decidiu=decided decisão=decision
combinado=agreed fechado=agreed fica=stays ficamos=we_stay usamos=we_use usar=use usa=uses vamos=we_go
mudamos=we_changed muda=changes mudou=changed trocar=switch trocamos=we_switched novo=new nova=new antigo=old
falhou=failed falha=failure erro=error funciona=works funcionou=worked quebrou=broke caiu=went_down
problema=problem tentamos=we_tried tentei=I_tried evitar=avoid descartado=discarded proibido=forbidden
causa=cause motivo=reason roda=runs custa=costs espera=wait aguardando=waiting bloqueado=blocked fechada=closed
aberto=open pronto=ready pendente=pending prazo=deadline férias=vacation volta=returns responsável=responsible
cliente=customer fornecedor=supplier contrato=contract preço=price obrigado=thanks obrigada=thanks oi=hello
olá=hello sim=yes talvez=maybe acho=think proponho=propose opção=option para=for pra=for com=with sem=without
de=of do=of_the da=of_the no=in_the na=in_the em=in por=for pelo=by_the sobre=about cada=each mais=more
menos=less que=that como=like quem=who quando=when tudo=all todos=all nada=nothing ninguém=nobody aqui=here
muito=very
"""
_CHINESE = """
我们=we 我=I 你们=you 你=you 他们=they 他=he 她=she 它=it 大家=everyone 团队=team 的=of 了=(done) 是=is 在=at
有=has 没有=has_no 没=not 不=not 不要=do_not 别=do_not 不能=cannot 不可以=must_not 禁止=forbidden 必须=must
应该=should 需要=needs 可以=can 能=can 会=will 要=want 想=want 想要=want 希望=hope 喜欢=like 不喜欢=dislike
偏好=prefer 更喜欢=prefer 宁愿=would_rather 最好=better 讨厌=hate 习惯=habit 请=please 以后=from_now_on
今后=in_future 决定=decided 确定=confirmed 定了=decided 就用=we_use 改用=switch_to 换成=switch_to 改成=change_to
改为=change_to 采用=adopt 使用=use 用=use 选择=choose 选=choose 同意=agree 通过=approved 批准=approved
统一=uniformly 取消=cancelled 放弃=dropped 不再=no_longer 保留=keep 维持=keep 继续=continue 停用=retired
替换=replace 代替=instead_of 而不是=instead_of 规定=rule 规则=rule 标准=standard 流程=process 失败=failed
错误=error 报错=error 出错=error 崩溃=crash 挂了=crashed 不行=does_not_work 没用=useless 问题=problem
原因=reason 因为=because 由于=because 所以=so 导致=caused 结果=result 试过=tried 尝试=tried 试了=tried
避免=avoid 超时=timeout 丢失=lost 泄漏=leak 故障=outage 回滚=rollback 修复=fixed 解决=solved 但是=but 但=but
如果=if 否则=otherwise 和=and 或者=or 或=or 以及=and 并且=and 而且=and 也=also 都=all 只=only 只有=only
总是=always 从不=never 永远=always 每=each 每天=every_day 每周=every_week 每月=every_month 目前=currently
现在=now 暂时=for_now 临时=temporary 正在=is_currently 还没=not_yet 还在=still 已经=already 今天=today
明天=tomorrow 后天=the_day_after_tomorrow 昨天=yesterday 今晚=tonight 早上=morning 上午=morning 下午=afternoon
晚上=evening 中午=noon 本周=this_week 这周=this_week 下周=next_week 上周=last_week 本月=this_month
下个月=next_month 下月=next_month 周一=Monday 周二=Tuesday 周三=Wednesday 周四=Thursday 周五=Friday
周六=Saturday 周日=Sunday 星期一=Monday 星期二=Tuesday 星期三=Wednesday 星期四=Thursday 星期五=Friday
星期六=Saturday 星期日=Sunday 月底=end_of_month 年底=end_of_year 截止=deadline 之前=before 以前=before
之后=after 直到=until 到=until 为止=until 从=from 起=from 开始=start 结束=end 天=days 周=weeks 个月=months
小时=hours 分钟=minutes 年=year 月=month 日=day 号=th 点=o'clock 秒=seconds 负责=responsible
负责人=person_responsible 接手=takes_over 休假=on_leave 请假=on_leave 出差=travelling 回来=back 客户=customer
供应商=supplier 合同=contract 价格=price 费用=cost 预算=budget 数据库=database 数据=data 服务器=server
服务=service 接口=API 模型=model 测试=test 部署=deploy 上线=go_live 发布=release 版本=version 代码=code 日志=log
配置=configuration 文件=file 文档=document 报告=report 系统=system 用户=user 团=group 项目=project 任务=task
计划=plan 方案=plan 建议=suggest 提议=propose 考虑=consider 也许=maybe 可能=maybe 大概=about 大约=about
估计=estimate 觉得=think 认为=think 好的=okay 好=good 行=okay 对=right 谢谢=thanks 收到=understood
明白=understood 辛苦=thanks 你好=hello 为什么=why 什么=what 怎么=how 谁=who 哪=which 吗=? 呢=? 吧=(suggest)
最多=at_most 至少=at_least 不超过=at_most 超过=more_than 低于=below 高于=above 平均=average 左右=about
万=ten_thousand 等=wait 等待=waiting 暂停=paused 卡在=stuck_at 跑=run 运行=run 完成=done 一=one 两=two 三=three
个=pieces 这个=this 那个=that 这=this 那=that 新=new 旧=old 叫=is_called 位于=located_at 放在=kept_in
支持=support 中文=Chinese 英文=English 邮件=e-mail 电话=phone 会议=meeting 周会=weekly_meeting
"""


def _table(text: str) -> dict[str, str]:
    pairs = (entry.split("=", 1) for entry in text.split())
    return {word.replace("_", " "): english.replace("_", " ") for word, english in pairs}


_TABLES = {
    "de": _table(_GERMAN),
    "es": _table(_SPANISH),
    "fr": _table(_FRENCH),
    "pt": _table(_PORTUGUESE),
}
_TELLTALES = {
    "de": word_set(
        "der die das und nicht wir ist für mit auf ein eine den dem auch wird bis bitte noch sich ich im zum"
    ),
    "es": word_set("el los las una que para con por del está pero hasta más usamos vamos es y mejor sin esta este"),
    "fr": word_set("le les des est une pour dans pas nous avec sur qui que du mais jusqu'à c'est aux plus et au"),
    "pt": word_set("o os um uma não que para com do da em está mas até mais você pra foi é e no na só"),
    "en": word_set("the and is to of we for it that with on are be this not in you have will was i a at"),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]+")


@lru_cache(maxsize=1)
def _chinese() -> tuple[re.Pattern[str], dict[str, str]]:
    table = _table(_CHINESE)
    longest_first = sorted(table, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), table


def language(text: str) -> str:
    """Guess the language of a message from its commonest words; ``en`` where nothing speaks for another."""
    if len(_IDEOGRAPHS.findall(text)) and sum(map(len, _IDEOGRAPHS.findall(text))) * 4 >= len(text) - text.count(" "):
        return "zh"
    found = [word.lower() for word in _WORD.findall(text[:400])]
    counts = {name: sum(word in telltales for word in found) for name, telltales in _TELLTALES.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] > counts["en"] else "en"


def gloss(text: str, tongue: str) -> str:
    """Put the conversational words of a text into English, word for word."""
    if _IDEOGRAPHS.search(text):
        pattern, table = _chinese()
        text = pattern.sub(lambda match: f" {table[match.group()]} ", text)
    table = _TABLES.get(tongue, {})
    if table:
        text = _WORD.sub(lambda match: table.get(match.group().lower(), match.group()), text)
    return text
