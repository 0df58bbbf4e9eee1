"""Texts: lines of a file, or a column of a table."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer

import mheal
from mheal.embed.methods import embed
from mheal.embed.tfidf import words
from mheal.exceptions import UserError
from mheal.io.read import read_pool

# Real sentences: the descriptions that come with scikit-learn's data.
TEXTS = [
    " ".join(line.split())
    for load in (load_breast_cancer, load_digits, load_wine)
    for line in load().DESCR.splitlines()
    if len(line.split()) > 4
]


def test_one_text_a_line(tmp_path):
    (tmp_path / "pool.txt").write_text("\n".join(TEXTS) + "\n\n", encoding="utf-8")
    source = read_pool(tmp_path / "pool.txt")
    assert source.items == TEXTS
    assert source.X.shape == (len(TEXTS), 100)
    assert source.X.dtype == np.float32
    assert (source.kind, source.ids) == ("texts", None)
    assert source.features == f"TF-IDF of {len(TEXTS)} texts, truncated SVD to 100 columns"
    np.testing.assert_array_equal(source.X, read_pool(tmp_path / "pool.txt").X)


def test_like_texts_are_near(tmp_path):
    (tmp_path / "pool.txt").write_text("the cat sat on the mat\nshares fell sharply\nthe cat sat on a mat\n")
    X = read_pool(tmp_path / "pool.txt").X
    assert np.linalg.norm(X[0] - X[2]) < 0.7 * np.linalg.norm(X[0] - X[1])


def test_few_words_need_no_svd(tmp_path):
    (tmp_path / "pool.txt").write_text("red\ngreen\nred green\nblue\nred\n")
    source = read_pool(tmp_path / "pool.txt")
    assert source.features == "TF-IDF of 5 texts, 4 columns"  # blue, green, red, red green
    np.testing.assert_allclose(np.linalg.norm(source.X, axis=1), 1, rtol=1e-6)


def test_rare_words_are_dropped_from_many_texts(tmp_path):
    (tmp_path / "pool.txt").write_text("".join(f"word{i % 3} unique{i}\n" for i in range(1200)))
    source = read_pool(tmp_path / "pool.txt")
    assert source.features == "TF-IDF of 1,200 texts, 3 columns"


def test_shards_of_texts(tmp_path):
    (tmp_path / "b.txt").write_text("three words here\n")
    (tmp_path / "a.txt").write_text("one line\r\ntwo lines")
    assert read_pool(tmp_path / "*.txt").items == ["one line", "two lines", "three words here"]


def test_the_text_column_of_a_table(tmp_path):
    frame = pl.DataFrame({"key": [f"k{i}" for i in range(len(TEXTS))], "n": 1, "review": TEXTS})
    frame.write_csv(tmp_path / "pool.csv")
    source = read_pool(tmp_path / "pool.csv", text_column="review", id_column="key")
    assert (source.items, source.ids, source.kind) == (TEXTS, frame["key"].to_list(), "texts")
    assert source.features.startswith("column 'review'")
    assert "left out: n (not the text); TF-IDF" in source.features  # the method is not left out
    assert source.features.endswith(f"TF-IDF of {len(TEXTS)} texts, truncated SVD to 100 columns")


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:3]])
def test_the_only_column_may_be_the_text(tmp_path, texts):
    pl.DataFrame({"id": range(len(texts)), "body": texts}).write_ndjson(tmp_path / "pool.jsonl")
    source = read_pool(tmp_path / "pool.jsonl")
    assert (source.kind, source.items, source.ids) == ("texts", texts, list(range(len(texts))))


def test_the_only_column_may_be_a_category(tmp_path):
    (tmp_path / "pool.csv").write_text("colour\nred\nblue\nred\n")
    source = read_pool(tmp_path / "pool.csv")
    assert (source.kind, source.features) == ("table", "1 one-hot encoded (colour: 2 values)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"pool.txt is empty: write one text in each line"),
        ("\n \n", r"pool.txt is empty: write one text in each line"),
    ],
)
def test_bad_lines(tmp_path, text, message):
    (tmp_path / "pool.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_pool(tmp_path / "pool.txt")


def test_lines_that_are_not_utf8(tmp_path):
    texts = [*TEXTS, "café au lait"]
    (tmp_path / "pool.txt").write_bytes("\n".join(texts).encode("latin-1", errors="replace"))
    assert read_pool(tmp_path / "pool.txt").items[-1] == "café au lait"


def test_many_names_that_share_no_word_are_compared_by_their_letters(tmp_path):
    names = [f"{kind}{i}" for i in range(600) for kind in ("invoice", "passport")]
    (tmp_path / "pool.txt").write_text("\n".join([*names, "the only sentence here", "a sentence beside the only one"]))
    source = read_pool(tmp_path / "pool.txt")
    (note,) = source.notes
    assert "letters: 1,200, row 0, 1, 2, " in note
    assert same_kind(source.X, [name[:7] for name in (*names, "the sentence", "the sentence")]) > 0.99


TOPICS = {
    "Chinese": [
        (
            "北京 上海 南方 山区 沿海",
            "有大雨 会下雪 气温下降 阳光充足 刮大风",
            "请带雨伞 注意保暖 适合出门",
        ),
        (
            "主队 客队 国家队 年轻球员 守门员",
            "踢进两球 输掉比赛 赢得冠军 被罚红牌 传球失误",
            "球迷高兴 教练生气 积分上升",
        ),
        (
            "股市 银行 公司 投资者 央行",
            "股价上涨 下调利率 利润减少 发行债券 抛售股票",
            "市场平静 成交量大 汇率稳定",
        ),
    ],
    "Japanese": [
        (
            "東京で 大阪で 山では 海で 北で",
            "雨が降り 雪が積もり 気温が下がり 風が強く",
            "傘が必要です 寒くなります 晴れます 曇ります",
        ),
        (
            "チームが 選手が 監督が 相手が 主将が",
            "試合に勝ち 得点を決め 優勝を逃し 交代を告げ",
            "客が喜びました 後半です 勝点です 声援です",
        ),
        (
            "株式市場で 銀行が 投資家が 政府が 企業が",
            "利率を下げ 株を売り 利益を出し 債券を買い",
            "円相場です 株価です 市場は静かです 為替です",
        ),
    ],
    "Thai": [
        (
            "ที่กรุงเทพ ทางเหนือ ชายทะเล ภาคใต้",
            "ฝนตกหนัก อากาศเย็น ลมแรงมาก แดดออก",
            "ควรพกร่ม ใส่เสื้อหนาว อุณหภูมิลดลง เมฆมาก ฟ้าใส",
        ),
        (
            "ทีมชาติ นักเตะ ผู้รักษาประตู กองหน้า",
            "ยิงประตู แพ้การแข่งขัน ได้แชมป์ โดนใบแดง",
            "แฟนบอลดีใจ โค้ชโกรธ ครึ่งหลังสนุก เสมอกัน ได้สามแต้ม",
        ),
        (
            "ตลาดหุ้น ธนาคาร นักลงทุน บริษัท",
            "ราคาหุ้นขึ้น ลดดอกเบี้ย กำไรลดลง ขายพันธบัตร",
            "ตลาดเงียบ ซื้อขายมาก ค่าเงินคงที่ เงินไหลเข้า หนี้ลด",
        ),
    ],
}


def same_kind(X, kinds):
    """The share of texts whose nearest text is of the same kind."""
    cosines = X @ X.T
    np.fill_diagonal(cosines, -2)
    kinds = np.asarray(kinds)
    return (kinds[cosines.argmax(axis=1)] == kinds).mean()


@pytest.mark.parametrize("language", TOPICS)
def test_languages_without_spaces(tmp_path, language):
    texts = [
        ("".join(parts), at) for at, topic in enumerate(TOPICS[language]) for parts in product(*map(str.split, topic))
    ]
    chosen = [texts[at] for at in np.random.default_rng(0).permutation(len(texts))[:200]]
    (tmp_path / "pool.txt").write_text("\n".join(text for text, _ in chosen), encoding="utf-8")
    source = read_pool(tmp_path / "pool.txt")
    assert len(source.X) >= 195
    assert source.notes == []
    assert same_kind(source.X, [topic for _, topic in chosen]) == 1
    assert np.linalg.matrix_rank(source.X) > 20  # they differ within a topic


THINGS = {
    "Chinese": [
        "今天北京下大雨，出门请带伞",
        "股市大跌，投资者纷纷抛售股票",
        "国家队踢进两球赢得冠军",
        "这家餐厅的牛肉面好吃",
    ],
    "Japanese": [
        "東京は今日も雨が降るでしょう",
        "株価が大きく下がりました",
        "代表チームが試合に勝ちました",
        "この店のラーメンは美味",
    ],
    "Thai": ["วันนี้ฝนตกหนักที่กรุงเทพ", "ตลาดหุ้นร่วงลงอย่างหนัก", "ทีมชาติชนะการแข่งขันเมื่อคืน", "ก๋วยเตี๋ยวร้านนี้อร่อยมาก"],
    "emoji": ["😀😃😀", "🎉🎂🎈", "🐶🐱🐭", "🚗🚕🚙"],
    "short": ["refund", "login fails", "late delivery", "broken screen"],
    "codes": ["AB-1209", "QX/77-3", "INV0034", "M7.88.1"],
}


@pytest.mark.parametrize("language", THINGS)
def test_near_duplicates_are_near_and_no_two_of_them_are_picked(language):
    texts, thing = [], []
    for at, text in enumerate(THINGS[language]):
        texts += [text, f"{text}！", f"  {text}。", text.replace("，", ","), text + text[-1], f"{text} {text}"]
        thing += [at] * 6
    X = embed(texts, "texts").X
    assert same_kind(X, thing) > 0.9
    picks = mheal.select(X, len(THINGS[language]))
    assert {thing[row] for row in picks} == set(thing)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cat, the CAT", ["the", "cat", "the", "cat", "the cat", "cat the", "the cat"]),
        ("買う iPhone 15 を", ["買", "う", "買う", "iphone", "15", "iphone 15", "を"]),
        ("हिन्दी में", ["हिन्दी", "में", "हिन्दी में"]),
        ("so 😀👍🏽", ["so", "😀", "👍", "🏽", "so 😀", "😀 👍", "👍 🏽"]),
        ("Ｉｐｈｏｎｅ ﾃｽ", ["iphone", "テ", "ス", "テス"]),
        ("Ärger über a b", ["ärger", "über", "ärger über"]),
        ("! ?", []),
    ],
)
def test_what_counts_in_a_text(text, found):
    assert words(text) == found


@pytest.mark.parametrize(
    "texts",
    [
        ["😀 😀", "😀", "🎉🎉", "🎉"],
        ["!", "!!", "?", "??"],
        ["ok", "OK", "no", "No!"],
        ["AB-1209-X", "AB-1210-X", "QQ/77", "QQ/78"],
        ["a", "a", "b", "b"],
    ],
)
def test_very_short_texts(texts):
    X = embed(texts, "texts").X
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    assert same_kind(X, [0, 0, 1, 1]) == 1


def test_texts_without_words_are_counted_by_their_rows(tmp_path):
    (tmp_path / "pool.txt").write_text("red cat\n\nred dog\n7\n#\nblue cat\n")
    source = read_pool(tmp_path / "pool.txt")
    assert source.notes == [
        "1 empty text left out: row 1",
        "texts that share no word with another one are compared by their letters: 2, row 3, 4",
    ]
    assert (np.linalg.norm(source.X, axis=1) > 0.99).all()


def test_texts_with_nothing_in_common_are_said_to_count_as_equal():
    made = embed([*("cat dog" for _ in range(1000)), "cat", *map(chr, range(0xAC00, 0xAC00 + 1002))], "texts")
    odd = list(range(1001, 2003))
    assert made.notes[1:] == [("texts that have nothing in common with another one count as equal", odd)]
    assert not made.X[odd].any()
    with pytest.raises(UserError, match="the texts have nothing in common, not even letters"):
        embed(["", ""], "texts")


def test_texts_with_words_have_the_features_of_their_words_alone():
    weigh = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), dtype=np.float32)
    some = TEXTS[:80]  # at most one of them shares no word with another
    X = embed(some, "texts").X
    U, s, _ = np.linalg.svd(weigh.fit_transform(some).toarray(), full_matrices=False)
    wanted = U * s
    np.testing.assert_allclose(X @ X.T, wanted @ wanted.T, atol=1e-4)


def test_bad_text_columns(tmp_path):
    pl.DataFrame({"t": ["some words", " "], "n": [1, 2]}).write_parquet(tmp_path / "pool.parquet")
    assert read_pool(tmp_path / "pool.parquet", text_column="t").notes == ["1 empty text left out: row 1"]
    with pytest.raises(ValueError, match=r"column 'n' of pool.parquet holds Int64, not text"):
        read_pool(tmp_path / "pool.parquet", text_column="n")
