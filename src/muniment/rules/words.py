"""Function words that carry no content for search, in English and Persian.

The lists are this project's own choice of closed-class words (articles, pronouns,
prepositions, conjunctions, auxiliaries and the commonest light verbs), checked for
retrieval effect on development data. A word that can name a thing, a time or an amount
is left out. `ASKING` holds words that ask a memory for *whatever it holds* without
saying about what; they stay searchable and only decide `content_free`. `MONTHS` and
`PERSIAN_MONTHS` name the months of numeric dates, in order.
"""

ENGLISH = """
a an the this that these those there here
i me my mine myself you your yours yourself yourselves he him his himself she her hers
herself it its itself we us our ours ourselves they them their theirs themselves
who whom whose which what when where why how whether
am is are was were be been being do does did doing done have has had having
can could will would shall should might must
of in on at by for with from to into onto upon about as than
and or but nor so if then else because while though although
not no too very just also only even ever such both each either neither any some
im ive ill id youre youve youll youd hes shes its were weve theyre theyve theyll
thats whats heres theres lets
"""

PERSIAN = """
و یا که تا اگر اما ولی چون زیرا پس نیز هم همچنین البته بلکه مگر هرچند
از به با در بر برای را بی جز مانند مثل روی زیر بین نزد سوی طی ضمن توسط درباره دربارهٔ
این آن اینها آنها اینان آنان همین همان چنین چنان اینجا آنجا چنین
من تو او ما شما ایشان وی خود خودم خودت خودش خودمان خودتان خودشان
مرا تورا ام ات اش مان تان شان ای اند اید ایم
چه چی چیست کی کیست کجا کجاست کدام کدامند چرا چگونه چطور چند آیا
است هست نیست بود نبود باشد نباشد شد نشد شده نشده شود نشود بوده باشند بودند شدند شوند هستند نیستند
هستم هستی هستیم هستید بودم بودی بودیم بودید باشم باشی باشیم باشید شدم شدی
می‌شود می‌شد می‌شوند می‌باشد می‌باشند نمی‌شود می‌کند می‌کنند می‌کرد می‌کنم می‌کنی نمی‌کند
می نمی ها های هایی هایم هایت هایش هایشان هایمان هایتان ی تر ترین
کرد کردن کرده کند کنند کنم کنی کنید کردند کردم کردی
دارد دارند دارم داری داریم دارید داشت داشتند داشته داشتم نداشت ندارد
هر هیچ همه بعضی برخی دیگر یک یکی باید نباید شاید فقط خیلی بسیار
رو تون مون شون اون اینه اونه توی واسه
"""

ASKING = """
know known remember remembered recall tell told say said everything anything something
all thing things stuff memory memories fact facts info information detail details
list show give get got please save saved store stored record records recorded learn
learned learnt far already now currently think hold keep kept
یاد یادت یادته یادتان یادتونه هست بگو بگویید بگین چیز چیزی چیزها چیزهایی چیزهای
می‌دانی میدونی می‌دانید میدونین دانی دونی می‌دونی می‌دونین بدانی بدونی
خاطر خاطرت داری دارید مورد اطلاعات اطلاعاتی حافظه حافظه‌ات ذخیره ثبت نگه
لطفا راجع همه‌چیز همه‌ی هرچیزی هرچه هرچی کن بده نشان درباره‌ام درباره‌ی
"""

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
PERSIAN_MONTHS = (
    *("فروردین", "اردیبهشت", "خرداد", "تیر", "مرداد", "شهریور"),
    *("مهر", "آبان", "آذر", "دی", "بهمن", "اسفند"),
)
SHORT_MONTHS = {name[:3]: name for name in MONTHS if name not in {"march", "may"}} | {
    "sept": "september"
}
