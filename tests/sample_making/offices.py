"""A reporting agent that writes SQL, a purchasing agent that calls three tools at once, a Chinese help desk."""

from __future__ import annotations

from typing import Any

from modelcontext_core.messages import Message
from tests.sample_making.chat import Chat, uid

__all__ = ["CHINESE_TOOLS", "PARALLEL_TOOLS", "SQL_TOOLS", "chinese", "parallel_tools", "sql_agent"]

SQL_TOOLS = {
    "list_documents": "Lists the documents of a knowledge base.",
    "database_query": "Runs one SQL query, reading only.",
}
LIBRARY = uid("museum library base")
GUIDES = {uid(f"guide {name}"): name for name in ("Roman glass", "River trade", "Dr. O'Brien's maps", "Bell casting")}


def sql_agent() -> list[Message]:
    """16 messages: ids inside SQL literals, beside a comment with an apostrophe."""
    glass, river, maps, bells = GUIDES
    chat = Chat("You write reports for a made-up museum. Read only, and say which table a figure is from.")
    chat.user("Which of our audio guides were played most in autumn, and which are hardly heard to the end?")
    rows = [{"knowledge_id": each, "title": title} for each, title in GUIDES.items()]
    chat.step(
        ("list_documents", {"knowledge_base_id": LIBRARY}, {"knowledge_base_id": LIBRARY, "documents": rows}),
        says="First the list of guides.",
    )
    listed = ",\n  ".join(f"'{each}'" for each in GUIDES)
    plays = "\n".join(f"{each} | {plays:>5} | {share}" for each, plays, share in
                      ((river, 9120, 0.81), (glass, 7204, 0.77), (bells, 3310, 0.34), (maps, 1015, 0.92)))  # fmt: skip
    chat.step(
        (
            "database_query",
            {
                "sql": "SELECT guide_id, count(*) AS plays, avg(share) AS heard\nFROM plays -- visitors' devices\n"
                f"WHERE guide_id IN (\n  {listed})\n  AND day BETWEEN '2026-09-01' AND '2026-11-30'\n"
                "GROUP BY guide_id ORDER BY plays DESC",
                "timeout": 2.5,
            },
            f"guide_id                             | plays | heard\n{plays}",
        ),
    )
    chat.says(
        f"River trade was played most (9,120 times). Bell casting is stopped early: a third is heard. Figures: table "
        f"`plays`; guides weknora://doc/{river} and weknora://doc/{bells}."
    )
    chat.user("At which minute do they stop Bell casting? And was it always so?")
    chat.step(
        (
            "database_query",
            {
                "sql": f"SELECT minute, stopped FROM stops\nWHERE guide_id = '{bells}' /* it's the long one */\n"
                "ORDER BY stopped DESC LIMIT 3"
            },
            "minute | stopped\n4 | 1,204\n5 | 377\n11 | 90",
        ),
        (
            "database_query",
            {"sql": f"SELECT month, avg(share) FROM plays WHERE guide_id = '{bells}' GROUP BY month"},
            "month | avg\n2026-08 | 0.71\n2026-09 | 0.36\n2026-10 | 0.33",
        ),
    )
    chat.says("In minute 4, and only since September: before that, seven tenths were heard. Something changed then.")
    chat.user("The new recording. Please note it for both guides of that series.")
    chat.step(
        (
            "database_query",
            {"sql": f"SELECT guide_id, note FROM notes WHERE guide_id IN ('{bells}', '{maps}')"},
            f"guide_id | note\n{bells} | new recording, 2 September\n{maps} | none",
        ),
    )
    chat.says(f"The note already stands at weknora://doc/{bells}; the other guide of the series has the old recording.")
    return chat.messages


PARALLEL_TOOLS = {
    "search_knowledge": "Searches the rules of purchasing.",
    "get_document_info": "Says what is known about documents.",
    "web_fetch": "Reads pages of the web.",
}
RULES, OFFER_A, OFFER_B = uid("purchasing base"), uid("offer north"), uid("offer south")
NORTH, SOUTH = "https://north.example.com/chairs/model-7", "https://south.example.org/catalogue?item=chair&year=2026"


def _rule(name: str, text: str) -> dict[str, Any]:
    row = {"chunk_id": uid(f"rule {name}"), "knowledge_id": uid("purchasing rules"), "knowledge_base_id": RULES}
    return row | {"title": "Purchasing rules", "content": text}


def parallel_tools() -> list[Message]:
    """19 messages: three calls at once, three times; the results have no ids and come in order."""
    chat = Chat(
        "You buy for a made-up school. Compare at least two offers, and check the rules before you recommend one."
    )
    chat.user(f"We need 60 chairs. I have two offers, documents {OFFER_A} and {OFFER_B}. Which one?")
    chat.step(
        ("search_knowledge", {"query": "offers above 1000", "knowledge_base_ids": [RULES]},
         {"results": [_rule("offers", "Above 1,000 two offers are compared in writing.")]}),
        ("get_document_info", {"knowledge_ids": [OFFER_A, OFFER_B]},
         {"documents": [{"knowledge_id": OFFER_A, "title": "Offer North", "pages": 2},
                        {"knowledge_id": OFFER_B, "title": "Offer South", "pages": 3}]}),
        ("web_fetch", {"urls": [NORTH, SOUTH]},
         {"pages": [{"url": NORTH, "text": "Model 7, 31.50, ten years"}, {"url": SOUTH, "text": "28.00, 5 years"}]}),
        says="I look at the rules, both offers and both pages at once.",
    )  # fmt: skip
    chat.step(
        ("search_knowledge", {"query": "warranty of furniture", "knowledge_base_ids": [RULES]},
         {"results": [_rule("warranty", "Furniture for pupils has a warranty of at least eight years.")]}),
        ("search_knowledge", {"query": "delivery in term time", "knowledge_base_ids": [RULES]},
         {"results": [_rule("delivery", "Deliveries come in the holidays or after four o'clock.")]}),
        ("web_fetch", {"url": NORTH}, {"url": NORTH, "delivery": "within 20 days, also in the evening"}),
    )  # fmt: skip
    chat.says(
        f"Take the offer of North: ten years of warranty, the rules ask for eight "
        f'<kb doc="Purchasing rules" chunk_id="{uid("rule warranty")}" kb_id="{RULES}" />, and they deliver late '
        f'<web url="{NORTH}" title="Model 7" />.'
    )
    chat.user("What would tables of the same makers cost, and who may sign?")
    chat.step(
        ("web_fetch", {"url": NORTH.replace("chairs", "tables")}, {"text": "Model 9, 84.00"}),
        ("web_fetch", {"url": SOUTH.replace("chair", "table")}, {"text": "Table, 91.00"}),
        ("search_knowledge", {"query": "who signs", "knowledge_base_ids": [RULES]},
         {"results": [_rule("sign", "Up to 5,000 the head of school signs alone.")]}),
    )  # fmt: skip
    chat.step(("get_document_info", {"knowledge_ids": [OFFER_A]}, {"knowledge_id": OFFER_A, "total": "1890.00"}))
    chat.says(
        f"Tables: 84.00 at North, 91.00 at South. The chairs cost 1,890 (weknora://doc/{OFFER_A}), so the head "
        f'signs alone <kb doc="Purchasing rules" chunk_id="{uid("rule sign")}" kb_id="{RULES}" />.'
    )
    return chat.messages


CHINESE_TOOLS = {"search_knowledge": "检索知识库。", "web_fetch": "读取网页。"}
MANUAL = uid("chinese manual base")
SITE = "https://help.example.com/zh/warranty"


def chinese() -> list[Message]:
    """12 messages in Chinese: ids with ideographs on both sides."""
    boiler, filters, warranty = uid("chinese boiler"), uid("chinese filter"), uid("chinese warranty")
    cleaning, lamp, parts = uid("chunk cleaning"), uid("chunk lamp"), uid("chunk parts")
    chat = Chat("你是一家虚构的咖啡机厂商的客服助手。先检索知识库，再回答，并注明出处。")
    chat.user("咖啡机的红灯一直亮，说明书里怎么说？")
    chat.step(
        ("search_knowledge", {"query": "红灯 常亮", "knowledge_base_ids": [MANUAL]},
         ('<retrieval type="knowledge" mode="semantic">\n'
         f'  <document knowledge_id="{boiler}" knowledge_base_id="{MANUAL}" title="锅炉说明书">\n'
         f'    <chunk chunk_id="{lamp}" index="4">红灯常亮表示水箱缺水，或者滤网需要清洗（见文档{filters}）。</chunk>\n'
         f'    <chunk chunk_id="{cleaning}" index="9">清洗滤网后请等待三十秒再开机。</chunk>\n'
         "  </document>\n"
         f'  <document knowledge_id="{filters}" knowledge_base_id="{MANUAL}" title="滤网保养"></document>\n'
         "</retrieval>")),
    )  # fmt: skip
    chat.says(
        f'请先加水；如果红灯仍亮，请清洗滤网<kb doc="锅炉说明书" chunk_id="{lamp}" kb_id="{MANUAL}" />。'
        f"步骤见weknora://doc/{filters}的第二节。"
    )
    chat.user(f"洗过了还是亮。文档{boiler}里有没有保修的内容？")
    chat.step(
        ("search_knowledge", {"query": "保修", "knowledge_base_ids": [MANUAL]},
         (f'<retrieval type="knowledge" mode="semantic">\n  <document knowledge_id="{warranty}" '
         f'knowledge_base_id="{MANUAL}" title="保修条款">\n    <chunk chunk_id="{parts}" index="1">'
         f"锅炉保修三年，见{SITE}。</chunk>\n  </document>\n</retrieval>")),
        ("web_fetch", {"url": SITE}, {"url": SITE, "text": f"保修期内免费更换锅炉。条款编号：{warranty}。"}),
        says="我再查一下保修条款。",
    )  # fmt: skip
    chat.says(
        f'锅炉保修三年<kb doc="保修条款" chunk_id="{parts}" kb_id="{MANUAL}" />，期内免费更换'
        f'<web url="{SITE}" title="保修" />。'
    )
    chat.user("好的，谢谢！")
    chat.says(f"不客气。维修时请带上保修条款（weknora://doc/{warranty}）和购买凭证。")
    return chat.messages
