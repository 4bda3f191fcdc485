"""The sentences of the catalogues in Chinese (simplified), by their English texts.

Terms are those of the vendor's Chinese documents, as docs/zh/glossary.md has them. A sentence whose
English text changes is without a translation until it is given one here.
"""

from __future__ import annotations

from typing import Final

# ruff: noqa: RUF001 (Chinese has punctuation of its own)

CHINESE: Final[dict[str, str]] = {
    # Answers
    "{n} operator": "{n} 个算子",
    "{n} operators": "{n} 个算子",
    "{n} rank": "{n} 个 rank",
    "{n} ranks": "{n} 个 rank",
    "{n} tensor": "{n} 个张量",
    "{n} tensors": "{n} 个张量",
    "{n} pair": "{n} 对张量",
    "{n} pairs": "{n} 对张量",
    "{n} record": "{n} 条溢出记录",
    "{n} records": "{n} 条溢出记录",
    "{n} more time": "另有 {n} 次",
    "{n} more times": "另有 {n} 次",
    "{n} more remark (-v)": "另有 {n} 条说明（-v）",
    "{n} more remarks (-v)": "另有 {n} 条说明（-v）",
    "{n} more finding (-v)": "另有 {n} 个问题（-v）",
    "{n} more findings (-v)": "另有 {n} 个问题（-v）",
    "operator": "算子",
    "what": "现象",
    "why": "原因",
    "reach": "影响",
    "again": "重复",
    "next": "下一步",
    "largest": "最大",
    "added error": "新增误差",
    "status": "状态",
    "inputs": "输入",
    "outputs": "输出",
    "read by": "读取者",
    "same after": "此后仍相同",
    "changed after": "此后已改变",
    "who": "何者所为",
    "call": "调用",
    "error": "错误",
    "warning": "警告",
    "dumps": "dump 内容",
    "place": "位置",
    "more": "其他",
    "{items}, {item}": "{items}，{item}",
    "{clauses}; {clause}": "{clauses}；{clause}",
    "{place}: {answer}": "{place}：{answer}",
    "{label}: {text}": "{label}：{text}",
    "verdict": "判断",
    "damage": "损坏",
    "file": "文件",
    "received": "接收方",
    "suppressed": "不计",
    "{n} more finding": "另有 {n} 个问题",
    "{n} more findings": "另有 {n} 个问题",
    "{shown} of {things}": "共 {things}，显示 {shown} 个",
    "... and {n} more": "…… 另有 {n} 个",
    "an operator without a name": "没有名称的算子",
    "{operators} of rank {rank}": "rank {rank} 的{operators}",
    "{text} ({evidence})": "{text}（{evidence}）",
    "chain to the last of {operators}": "到{operators}中最后一个的链路",
    "chain to the last of {operators}; {n} in the middle left out": (
        "到{operators}中最后一个的链路；省略中间 {n} 个"
    ),
    "an attention mask, of -Inf or of the smallest finite value": (
        "注意力掩码，值为 -Inf 或最小的有限值"
    ),
    "memory that was allocated and not written yet (Empty*)": "已分配但尚未写入的内存（Empty*）",
    "only in the padding of a private format, which no operator uses": (
        "只在私有格式的填充中，没有算子使用"
    ),
    "nothing that reads it has a bad output": "读取它的算子，输出都没有异常",
    "{tensors}, {pattern}": "{tensors}，{pattern}",
    "{tensors}, {pattern}; --all lists them": "{tensors}，{pattern}；用 --all 列出",
    "the first: {paths}": "第一个：{paths}",
    "{path}: joined, {join}: {note}": "{path}：已关联，{join}：{note}",
    "{path}: not joined: {note}": "{path}：未关联：{note}",
    "not joined": "未关联",
    "{path}: {status}": "{path}：{status}",
    "{path}: {status}: {note}": "{path}：{status}：{note}",
    "{n} record in which no unit overflowed": "{n} 条记录中没有单元溢出",
    "{n} records in which no unit overflowed": "{n} 条记录中没有单元溢出",
    "{n} record could not be read": "{n} 条记录无法读取",
    "{n} records could not be read": "{n} 条记录无法读取",
    "{n} file could not be read": "{n} 个文件无法读取",
    "{n} files could not be read": "{n} 个文件无法读取",
    "Check: recordings after other operators (dump_scene=watcher) against the watched operators' "
    "own outputs.": (
        "检查：将其它算子执行之后的记录（dump_scene=watcher）与被观察算子自己的输出比较。"
    ),
    "Check: inputs against the outputs that last lay at their device addresses (this is no dump of "
    "dump_scene=watcher).": (
        "检查：将输入与最后一次位于其设备地址的输出比较（这不是 dump_scene=watcher 的 dump）。"
    ),
    "{n} change": "{n} 处变化",
    "{n} changes": "{n} 处变化",
    "{n} tensor not compared": "{n} 个未比较的张量",
    "{n} tensors not compared": "{n} 个未比较的张量",
    "{tensor} of {operator}: bytes {first} to {last} by {suspect}": (
        "{operator} 的 {tensor}：第 {first} 到 {last} 字节，{suspect}"
    ),
    "{n} recorded before the watched operator ran": "{n} 个在被观察算子执行之前记录",
    "{n} written where they are read": "{n} 个在读取处写入",
    "{n} without a writer": "{n} 个没有写入者",
    "{n} without a file of the watched operator": "{n} 个没有被观察算子的文件",
    "{n} {status}": "{n} 个 {status}",
    "{pairs} ({found})": "{pairs}（{found}）",
    "{n} by {how}": "{n} 对按 {how}",
    "{title}:": "{title}：",
    "{title}, {shown} of {n}:": "{title}，{n} 个中的 {shown} 个：",
    "Pairs beyond a limit": "超出限值的张量对",
    "layer {layer}, {operator}": "第 {layer} 层 {operator}",
    "{operator}, {tensor}": "{operator}，{tensor}",
    "rank {numbers}": "rank {numbers}",
    "ranks {numbers}": "rank {numbers}",
    "step {numbers}": "step {numbers}",
    "steps {numbers}": "step {numbers}",
    "device {numbers}": "device {numbers}",
    "layer {numbers}": "第 {numbers} 层",
    "interrupted, so far {answer}": "已中断，目前的结果：{answer}",
    "{n} {bad}": "{n} 个 {bad}",
    "all elements": "全部元素",
    "the only element": "唯一的元素",
    "one element of {size}, {at}": "{size} 个元素中的一个，{at}",
    "{n} of {size} elements": "{size} 个元素中的 {n} 个",
    "{share}: {shape}": "{share}：{shape}",
    "{share}, {shape}": "{share}，{shape}",
    "scattered: {axes}": "分散：{axes}",
    "every {stride}th from {start} on": "从 {start} 起每隔 {stride} 个元素一个",
    "the block {place}": "块 {place}",
    "the tail from {start} on": "从 {start} 起直到末尾",
    "one run from {start} on": "从 {start} 起连续的一段",
    "the tail from {start} on ({nbytes}, a multiple of {write_nbytes} bytes)": (
        "从 {start} 起直到末尾（{nbytes}，是 {write_nbytes} 字节的整数倍）"
    ),
    "one run from {start} on ({nbytes}, a multiple of {write_nbytes} bytes)": (
        "从 {start} 起连续的一段（{nbytes}，是 {write_nbytes} 字节的整数倍）"
    ),
    "{lines}: {run}": "{lines}：{run}",
    "{lines} ({numbers})": "{lines}（{numbers}）",
    "{lines} {place}": "{lines} {place}",
    "{n} whole row": "{n} 个整行",
    "{n} whole rows": "{n} 个整行",
    "{n} whole column": "{n} 个整列",
    "{n} whole columns": "{n} 个整列",
    "{n} whole index": "{n} 个完整的下标",
    "{n} whole indices": "{n} 个完整的下标",
    "{indices} of axis {axis}": "轴 {axis} 上的{indices}",
    "{n} of {size} along axis {axis}": "轴 {axis} 上 {size} 个下标中的 {n} 个",
    "{n} run": "{n} 段",
    "{n} runs": "{n} 段",
    "{tensors} with NaN or +Inf": "{tensors}含有 NaN 或 +Inf",
    "{tensors} with -Inf": "{tensors}含有 -Inf",
    "no NaN, no Inf": "没有 NaN，也没有 Inf",
    "{tensors} without a count of NaN or Inf": "{tensors}没有 NaN 和 Inf 的计数",
    "skipped: {files}": "跳过的文件：{files}",
    "{bad} first appears in {operator}": "{bad} 最先出现在 {operator}",
    "{bad} comes in with {operator}": "{bad} 由 {operator} 从外部带入",
    "{bad} is already there when {operator} first reads it": "{operator} 首次读取时 {bad} 已经存在",
    "{bad} first shows in {operator}, whose inputs are not all known": (
        "{bad} 最先见于 {operator}，但它的输入不全为已知"
    ),
    "{bad} comes from {operator}, which is not in the dump": (
        "{bad} 来自 {operator}，dump 数据中没有这个算子"
    ),
    "{bad} is read by {operator} where other values were written": (
        "{operator} 读到 {bad}，而写入那里的是别的值"
    ),
    "{operator} makes values at the limit of {dtype}": "{operator} 产生的值达到 {dtype} 的上限",
    "{operator} makes nothing but zeros": "{operator} 的输出全为零",
    "{operator} makes values of an unusual size": "{operator} 产生的值大小异常",
    "{operator} makes values near the limit of {dtype}": "{operator} 产生的值接近 {dtype} 的上限",
    "{operator} differs between ranks that should agree": "{operator} 在本应一致的 rank 之间不同",
    "{place} lacks {steps}, which others have": "{place} 缺少 {steps}，其他 rank 有",
    "{place} lacks {operators} that other ranks have; the first of them is {first}": (
        "{place} 缺少其他 rank 拥有的{operators}，其中第一个是 {first}"
    ),
    "{operator} of step {step}": "step {step} 的 {operator}",
    "what has no rank": "没有 rank 的部分",
    "nothing bad in {tensors}": "{tensors}中没有异常值",
    "there is no tensor to look at": "没有可以检查的张量",
    "{n} of {size} {dtype} elements are {bad}": "{size} 个 {dtype} 元素中有 {n} 个为 {bad}",
    "{n} of {size} {dtype} elements are {bad}: {where}": (
        "{size} 个 {dtype} 元素中有 {n} 个为 {bad}：{where}"
    ),
    "{n} of {size} {dtype} elements are bad ({counts})": (
        "{size} 个 {dtype} 元素中有 {n} 个异常（{counts}）"
    ),
    "{n} of {size} {dtype} elements are bad ({counts}): {where}": (
        "{size} 个 {dtype} 元素中有 {n} 个异常（{counts}）：{where}"
    ),
    "{dtype} {shape} with {bad}": "{dtype} {shape}，含有 {bad}",
    "{n} of {size} values are at the limit of {dtype}, {largest}": (
        "{size} 个值中有 {n} 个达到 {dtype} 的上限 {largest}"
    ),
    "values reach {share} of what {dtype} holds": "数值达到 {dtype} 上限的 {share}",
    "values reach {share} of what {dtype} holds; scaled down by up to {factor}, all stay normal": (
        "数值达到 {dtype} 上限的 {share}；缩小至多 {factor} 倍时，仍都是规格化数"
    ),
    (
        "values reach {share} of what {dtype} holds; scaled down, the smallest, {least}, is"
        " subnormal"
    ): ("数值达到 {dtype} 上限的 {share}；再缩小，最小的 {least} 就是次规格化数"),
    "values are {ratio} times larger than {usual}": "数值是{usual}的 {ratio} 倍",
    "values are {ratio} times smaller than {usual}": "数值是{usual}的 {ratio} 分之一",
    "on other ranks": "其他 rank",
    "before": "之前",
    "in other layers": "其他层",
    "NaN or Inf": "NaN 或 Inf",
    "{dtype} {shape}, from {low} to {high}": "{dtype} {shape}，从 {low} 到 {high}",
    "overflow: finite inputs up to {reach}, {dtype} ends at {largest}": (
        "溢出：输入均为有限值，最大 {reach}，而 {dtype} 的上限是 {largest}"
    ),
    "its inputs are finite, up to {reach}": "输入均为有限值，最大 {reach}",
    "{operators} on {ranks}, up to {last}": "{ranks}上的{operators}，直到 {last}",
    "{operators} on {ranks} (by {sender}), up to {last}": (
        "{ranks}上的{operators}（经由 {sender}），直到 {last}"
    ),
    "no other operator is known to be infected": "没有其他算子被感染的迹象",
    "{times}: {places}": "{times}：{places}",
    "not findings: {things}": "不算问题：{things}",
    "{n} tensor with an attention mask": "{n} 个带注意力掩码的张量",
    "{n} tensors with attention masks": "{n} 个带注意力掩码的张量",
    "{n} tensor not yet written": "{n} 个尚未写入的张量",
    "{n} tensors not yet written": "{n} 个尚未写入的张量",
    "{n} tensor with bad padding only": "{n} 个仅填充部分异常的张量",
    "{n} tensors with bad padding only": "{n} 个仅填充部分异常的张量",
    "{n} bad tensor that infects nothing": "{n} 个不再感染其他算子的异常张量",
    "{n} bad tensors that infect nothing": "{n} 个不再感染其他算子的异常张量",
    "the files are not at hand: links are known by statistics, names and order, not by content": (
        "手头没有 dump 文件：关联只依据统计数据、名称和顺序，不依据内容"
    ),
    "inputs were not dumped: what was bad first is known by time only": (
        "没有 dump 输入：只能按时间判断什么最先异常"
    ),
    "{tensors} as statistics that the device computed": "{tensors}只有设备算出的统计数据",
    (
        "values are at the limits of their types and none is NaN or Inf: the device may run in "
        "saturation mode, which turns Inf into the largest value and NaN into 0"
    ): (
        "有值达到其数据类型的上限，但没有 NaN 或 Inf：设备可能处于饱和模式，此时 Inf "
        "变为最大值，NaN 变为 0"
    ),
    "level health: nothing but NaN and +Inf was looked for; -Inf may be masks": (
        "level 为 health：只查找 NaN 和 +Inf；-Inf 可能是掩码"
    ),
    "{n} more finding in other operators": "其他算子中另有 {n} 个问题",
    "{n} more findings in other operators": "其他算子中另有 {n} 个问题",
    "{tensors} that a watcher repeats are left out": "watcher 重复记录的{tensors}未计入",
    "{tensors} {status}": "{tensors}的状态为 {status}",
    "{n} file could not be read again for evidence": "{n} 个文件无法再次读取以取得依据",
    "{n} files could not be read again for evidence": "{n} 个文件无法再次读取以取得依据",
    "it reads memory that was allocated and not written to": "它读取的内存已分配但未写入",
    "-Inf in {tensor}, as masks have, times 0 or less -Inf gives NaN": (
        "{tensor} 中有掩码那样的 -Inf，乘以 0 或减去 -Inf 得到 NaN"
    ),
    "1 row of {tensor} is all -Inf: wholly masked": "{tensor} 有 1 行全为 -Inf：整行被掩码",
    "{n} rows of {tensor} are all -Inf: wholly masked": "{tensor} 有 {n} 行全为 -Inf：整行被掩码",
    "{tensor} has -Inf, as masks have: a row that is wholly masked gives NaN": (
        "{tensor} 中有掩码那样的 -Inf：整行被掩码时得到 NaN"
    ),
    "1 row of {tensor} is all zeros: a division by zero": "{tensor} 有 1 行全为零：除以零",
    "{n} rows of {tensor} are all zeros: a division by zero": "{tensor} 有 {n} 行全为零：除以零",
    "{tensor} has {n} zeros: it may be a division by zero": "{tensor} 有 {n} 个零：可能是除以零",
    "{tensor} has 1 zero: a division by zero": "{tensor} 有 1 个零：除以零",
    "{tensor} has {n} zeros: a division by zero": "{tensor} 有 {n} 个零：除以零",
    "{tensor} has negative values, down to {low}": "{tensor} 有负值，最小 {low}",
    "it brings data in": "它带入数据",
    "its inputs are clean, and those of other ranks are not in the dump": (
        "它的输入正常，其他 rank 的输入不在 dump 数据中"
    ),
    "its inputs are clean": "它的输入正常",
    "it has no inputs": "它没有输入",
    "{tensors} is not wholly in the dump": "{tensors} 不完整",
    (
        "{tensors} is not wholly in the dump, nor was {operator}, which runs before it in other "
        "steps"
    ): ("{tensors} 不完整，在其他步数里先于它执行的 {operator} 也不在 dump 数据中"),
    "it may have got them from a rank that is not in the dump": (
        "它可能从 dump 数据中没有的 rank 得到这些值"
    ),
    (
        "it may have got them from a rank that is not in the dump, nor was {operator}, which "
        "runs before it in other steps"
    ): (
        "它可能从 dump 数据中没有的 rank 得到这些值，在其他步数里先于它执行的 {operator} 也不在 "
        "dump 数据中"
    ),
    "its inputs were not dumped": "它的输入没有 dump",
    "its inputs were not dumped, nor was {operator}, which runs before it in other steps": (
        "它的输入没有 dump，在其他步数里先于它执行的 {operator} 也没有"
    ),
    "what it read is bad, and nothing before it tells why": (
        "它读到的值已经异常，而之前的算子都不能说明原因"
    ),
    "all that is bad seems to come from something else that is": "所有异常似乎都来自另一处异常",
    "it made {tensor} of {operator}, by other steps": (
        "由其他步数可知，它产生了 {operator} 的 {tensor}"
    ),
    "it made {tensor} of {operator}, by other steps (nor is {others}, from which that may come)": (
        "由其他步数可知，它产生了 {operator} 的 {tensor}（其可能的来源 {others} 也不在）"
    ),
    "{tensor} of {operator} was clean": "{operator} 的 {tensor} 正常",
    "its inputs are clean, its output is cut off; {tensor} of {operator} shows it": (
        "它的输入正常，它的输出被截断；{operator} 的 {tensor} 可以说明"
    ),
    "little of it is in the dump; {tensor} of {operator} shows it": (
        "它只有一小部分在 dump 数据中；{operator} 的 {tensor} 可以说明"
    ),
    "only inputs were dumped": "只 dump 了输入",
    "only inputs were dumped; {operator} ran before it and read clean values": (
        "只 dump 了输入；{operator} 在它之前执行，读到的值正常"
    ),
    "no operator in the dump made it": "dump 数据中没有产生它的算子",
    "{operator} wrote clean values to its address": "{operator} 在它的地址写入了正常值",
    "all ranks get the same from it, and {other} has other values": (
        "所有 rank 从它得到相同的值，而 {other} 的值不同"
    ),
    "it is replicated, and {other} has other values": "它在各 rank 上应相同，而 {other} 的值不同",
    "{n} other operator": "其他 {n} 个算子",
    "{n} other operators": "其他 {n} 个算子",
    "{operator} diverges": "{operator} 不一致",
    "the runs part in {operator}": "两次运行从 {operator} 开始不一致",
    "nothing was compared: no tensor of a has a partner in b": (
        "没有比对：a 的张量在 b 中都没有对应张量"
    ),
    "nothing was compared: of {pairs} none could be read on both sides": (
        "没有比对：{pairs}中没有一对能从两边读取"
    ),
    "the runs agree: {pairs}, bit-equal": "两次运行一致：{pairs}，逐位相同",
    "the runs agree within tolerance: {pairs}": "两次运行在容差内一致：{pairs}",
    "statistics of {pairs} agree; no element was compared": "{pairs}的统计数据一致；没有逐元素比对",
    "the runs agree within what {dtype} explains: {pairs}": (
        "两次运行的差异在 {dtype} 精度可以解释的范围内：{pairs}"
    ),
    "added error {error} in {operator}, {tensor}": "{operator} 的 {tensor} 新增误差 {error}",
    "distance {distance}, cosine {cosine}; {n} of {size} elements differ": (
        "距离 {distance}，余弦 {cosine}；{size} 个元素中有 {n} 个不同"
    ),
    "statistics that differ by {difference}": "统计数据相差 {difference}",
    "other numbers of NaN and Inf": "NaN 和 Inf 的个数不同",
    "{n} NaN or Inf only in a": "{n} 个 NaN 或 Inf 仅在 a 中",
    "{n} NaN or Inf only in b": "{n} 个 NaN 或 Inf 仅在 b 中",
    "relative distance {distance}": "相对距离 {distance}",
    "cosine {cosine}": "余弦 {cosine}",
    "{n} of {size} elements mismatch": "{size} 个元素中有 {n} 个不匹配",
    "{n} of {size} elements are NaN or Inf in one run only": (
        "{size} 个元素中有 {n} 个仅在一次运行中为 NaN 或 Inf"
    ),
    "by itself: its inputs agree": "由它自身产生：输入一致",
    "it reads a parameter that differs; its other inputs agree": (
        "它读取的一个参数不同；其他输入一致"
    ),
    "its inputs diverge already, which nothing compared before explains": (
        "它的输入已经不一致，之前比对的结果都不能解释"
    ),
    "not known: not all of its inputs were compared": "未知：它的输入没有全部比对",
    "an input diverges, which nothing compared before explains": (
        "一个输入不一致，之前比对的结果都不能解释"
    ),
    "b has {operator} in its place; its inputs agree": (
        "在 b 中它的位置上是 {operator}；它的输入一致"
    ),
    "it reads what {operator} made in a and {other} in b": (
        "它读取的数据在 a 中由 {operator} 产生，在 b 中由 {other} 产生"
    ),
    "it reads what {operator} made, which only a has there": (
        "它读取 {operator} 产生的数据，只有 a 在那里有这个算子"
    ),
    "it reads what {operator} made, which only b has there": (
        "它读取 {operator} 产生的数据，只有 b 在那里有这个算子"
    ),
    "it reads the output of {operator} in a, of {other} in b": (
        "它在 a 中读取 {operator} 的输出，在 b 中读取 {other} 的输出"
    ),
    "no other operator diverges": "没有其他算子不一致",
    "{operators} diverging later, none by itself": "{operators}随后不一致，都不是由自身产生",
    "{operators} diverging later, {own} not by inheritance": (
        "{operators}随后不一致，其中 {own} 个不是继承而来"
    ),
    "{pairs} compared: {verdicts}": "比对了{pairs}：{verdicts}",
    "{n} equal": "{n} 对相同",
    "{n} close": "{n} 对接近",
    "{n} similar": "{n} 对相似",
    "{n} explained": "{n} 对可由精度解释",
    "{n} diverging": "{n} 对不一致",
    "{operators} computing in another type, first {dtype} in a, {other} in b": (
        "{operators}以另一种数据类型计算，第一个在 a 中为 {dtype}，在 b 中为 {other}"
    ),
    "{pairs} not reached": "{pairs}尚未比对",
    "{tensors} only in a": "{tensors}仅在 a 中",
    "{tensors} only in b": "{tensors}仅在 b 中",
    "{tensors} of casts only in a": "{tensors}（类型转换）仅在 a 中",
    "{tensors} of casts only in b": "{tensors}（类型转换）仅在 b 中",
    "{n} overflow": "{n} 次溢出",
    "{n} overflows": "{n} 次溢出",
    "{n} more tensor": "另有 {n} 个张量",
    "{n} more tensors": "另有 {n} 个张量",
    "{operator} overflowed on {unit}": "{operator} 在 {unit} 上溢出",
    "{operator} probably overflowed on {unit}": "{operator} 很可能在 {unit} 上溢出",
    "task {task} of stream {stream} overflowed on {unit}": (
        "stream {stream} 的 task {task} 在 {unit} 上溢出"
    ),
    "no overflow in {records}": "{records}中没有溢出",
    "no overflow record": "没有溢出记录",
    "{masks}: {meaning}": "{masks}：{meaning}",
    "not dumped": "没有 dump",
    "finite": "有限",
    "finite, up to {reach}; {dtype} ends at {largest}": (
        "有限，最大 {reach}；{dtype} 的上限是 {largest}"
    ),
    "{tensor} has {counts}": "{tensor} 有 {counts}",
    "{tensor} has {counts}, the first at {where}": "{tensor} 有 {counts}，第一个在 {where}",
    "{tensor} has {n} elements at the largest value of {dtype}": (
        "{tensor} 有 {n} 个元素为 {dtype} 的最大值"
    ),
    "{tensor} is {status}": "{tensor} 的状态为 {status}",
    "{tensor}; {tensors}": "{tensor}；{tensors}",
    "the most negative signed integer was negated": "对最小的有符号整数取负",
    "integer overflow in an addition, subtraction, multiplication or multiply-add": (
        "加、减、乘或乘加运算中整数溢出"
    ),
    "floating-point overflow": "浮点溢出",
    "a negative float was converted to an unsigned integer": "负浮点数转换为无符号整数",
    "overflow in a conversion of float32 or int32 to float16": (
        "float32 或 int32 转换为 float16 时溢出"
    ),
    "overflow in the accumulation of the cube unit": "Cube 单元累加时溢出",
    "bit {bit} is not documented": "位 {bit} 没有文档说明",
    "bits {bits} are not documented": "位 {bits} 没有文档说明",
    "bit {bit} of {unit} is not documented": "{unit} 的位 {bit} 没有文档说明",
    "bits {bits} of {unit} are not documented": "{unit} 的位 {bits} 没有文档说明",
    "{bit} of status {number}": "状态 {number} 的 {bit}",
    "no overflow": "没有溢出",
    "{n} other file": "其他 {n} 个文件",
    "{n} other files": "其他 {n} 个文件",
    "the record does not know the task ({task})": "记录中没有 task（{task}）",
    "the record does not know the stream ({stream})": "记录中没有 stream（{stream}）",
    "the file's name tells no stream": "文件名中没有 stream",
    "{reason}, and no file is one of {name}": "{reason}，也没有 {name} 的文件",
    "{reason}; by the name of the record's file": "{reason}；依据记录文件的名称",
    "no operator with {ids} was dumped in its place": "同一位置没有 {ids} 的算子的 dump",
    (
        "no operator with {ids} was dumped in its place; of that task there is 1 file of stream "
        "{streams}"
    ): ("同一位置没有 {ids} 的算子的 dump；该 task 有 1 个文件，stream 为 {streams}"),
    (
        "no operator with {ids} was dumped in its place; of that task there are {n} files of "
        "stream {streams}"
    ): ("同一位置没有 {ids} 的算子的 dump；该 task 有 {n} 个文件，stream 为 {streams}"),
    "task {task}": "task {task}",
    "task {task} and stream {stream}": "task {task}、stream {stream}",
    "context {number}": "context {number}",
    "thread {number}": "thread {number}",
    "time does not tell it from {files}: {names}": "依据时间无法与{files}区分：{names}",
    "nearest in time; its task and stream are also those of {files}: {names}": (
        "时间最近；{files}的 task 和 stream 与它相同：{names}"
    ),
    (
        "nearest in time, {n} us from the record; its task and stream are also those of {files}: "
        "{names}"
    ): ("时间最近，与记录相差 {n} 微秒；{files}的 task 和 stream 与它相同：{names}"),
    "{overflows} of {operators}: {places}": "{operators}的{overflows}：{places}",
    "{n} recording": "{n} 份观察文件",
    "{n} recordings": "{n} 份观察文件",
    "{n} input": "{n} 个输入",
    "{n} inputs": "{n} 个输入",
    "{n} tensor unchanged": "{n} 个张量未改变",
    "{n} tensors unchanged": "{n} 个张量未改变",
    "{n} tensor changed": "{n} 个张量已改变",
    "{n} tensors changed": "{n} 个张量已改变",
    "{tensors} not compared: {statuses}": "{tensors}没有比对：{statuses}",
    "{tensor} of {operator} was overwritten": "{operator} 的 {tensor} 被踩踏",
    "{tensor} of {operator} may have been overwritten": "{operator} 的 {tensor} 可能被踩踏",
    "{operator} ({dtype} {shape})": "{operator}（{dtype} {shape}）",
    "bytes {first} to {last} of {nbytes}": "共 {nbytes} 字节，第 {first} 至 {last} 字节",
    "bytes {first} to {last} of {nbytes}: {where}": (
        "共 {nbytes} 字节，第 {first} 至 {last} 字节：{where}"
    ),
    "{operator}, whose {tensor} lay there in between": "{operator}，其 {tensor} 在此期间位于该处",
    "{operator}, whose {tensor} has the bytes found there": (
        "{operator}，其 {tensor} 与该处的字节相同"
    ),
    "no other output that was dumped lies there": "没有其他 dump 过的输出位于该处",
    "No input has a device address, or there are no inputs in the dump.": (
        "没有带设备地址的输入，或 dump 数据中没有输入。"
    ),
    (
        "{files} may be of dump_scene=watcher by their names (A_To_B), but no file of an "
        "operator B is there: they were taken for operators of such names."
    ): (
        "{files}的名称（A_To_B）像是来自 dump_scene=watcher，但没有算子 B "
        "的文件：按普通算子名称处理。"
    ),
    "no change: {seen} equal, byte for byte, to what was written": (
        "没有改变：{seen}与写入的内容逐字节相同"
    ),
    "nothing could be compared: no recording has an output to compare with": (
        "没有比对：没有一份观察文件有可比对的输出"
    ),
    "nothing could be compared: no input has an output to compare with": (
        "没有比对：没有一个输入有可比对的输出"
    ),
    "{n} file": "{n} 个文件",
    "{n} files": "{n} 个文件",
    "{n} step": "{n} 步",
    "{n} steps": "{n} 步",
    "{steps} (last: {last})": "{steps}（最近 {last}）",
    "{n} bad": "{n} 个异常",
    "{n} damaged": "{n} 个损坏",
    "{n} waiting": "{n} 个等待中",
    "known from before:": "此前已知：",
    "an earlier origin has come to light:": "发现了更早的起源：",
    "the origin that was told is gone, and this is the first one now:": (
        "此前报告的起源已不存在，现在最早的是："
    ),
    "also {finding}": "另外 {finding}",
    "deleted {n} clean file": "删除了 {n} 个正常的文件",
    "deleted {n} clean files": "删除了 {n} 个正常的文件",
    "would delete {n} clean file": "将删除 {n} 个正常的文件",
    "would delete {n} clean files": "将删除 {n} 个正常的文件",
    "would delete {path}": "将删除 {path}",
    "{trouble}; it is tried again": "{trouble}；稍后重试",
    "the command of --on-finding ended with {code}: {command}": (
        "--on-finding 的命令以 {code} 结束：{command}"
    ),
    "{n} more error": "另有 {n} 个错误",
    "{n} more errors": "另有 {n} 个错误",
    "{n} more warning": "另有 {n} 个警告",
    "{n} more warnings": "另有 {n} 个警告",
    "{errors}, {warnings}": "{errors}，{warnings}",
    "{name}: refused": "{name}：被拒绝",
    "{name}: accepted": "{name}：被接受",
    "{name}: accepted, but nothing is dumped": "{name}：被接受，但不会 dump 任何内容",
    "{name}: accepted, but no operator of a graph is dumped": (
        "{name}：被接受，但不会 dump 图中的算子"
    ),
    "{name}: accepted, but wildcards in names are taken literally": (
        "{name}：被接受，但名称中的通配符按字面处理"
    ),
    "fails with {code}; nothing is dumped": "失败，返回 {code}；不会 dump 任何内容",
    "succeeds": "成功",
    "succeeds; only the log has what the graph engine says": "成功；图引擎的意见只写在日志里",
    # What is found in an acl.json
    "a number": "数字",
    "a string": "字符串",
    "an array": "数组",
    "an object": "对象",
    "an array of strings": "字符串数组",
    "an array of objects": "对象数组",
    "more than {most} bytes": "超过 {most} 字节",
    "objects nest {n} deep, at most {most} are allowed": "对象嵌套 {n} 层，最多允许 {most} 层",
    "arrays nest {n} deep, at most {most} are allowed": "数组嵌套 {n} 层，最多允许 {most} 层",
    "values nest {n} deep, at most {most} are read": "值嵌套 {n} 层，最多读取 {most} 层",
    "the text ends at a NUL byte; {n} bytes after it are not read": (
        "文本在 NUL 字节处结束；其后的 {n} 字节不会被读取"
    ),
    "byte {byte} is not UTF-8": "字节 {byte} 不是 UTF-8",
    "the key is repeated; its last value counts": "键重复；以最后一个值为准",
    "the number is too large": "数字过大",
    "{word} is not a JSON value": "{word} 不是 JSON 值",
    "half of a surrogate pair": "代理对不完整",
    "the file is empty: nothing is dumped": "文件为空：不会 dump 任何内容",
    "the outermost value is {found}, not an object: nothing is dumped": (
        "最外层的值是 {found}，不是对象：不会 dump 任何内容"
    ),
    'there is no key "dump": nothing is dumped': '没有键 "dump"：不会 dump 任何内容',
    'there is no key "dump" (but a key {near}): nothing is dumped': (
        '没有键 "dump"（但有键 {near}）：不会 dump 任何内容'
    ),
    "the object is empty: nothing is dumped": "对象为空：不会 dump 任何内容",
    "releases before 9.1.0 refuse an empty object": "9.1.0 之前的版本拒绝空对象",
    "further findings of the rule {rule} are not listed": "规则 {rule} 的其余问题未列出",
    "{found} where {expected} is expected": "值为 {found}，应为 {expected}",
    "{value} is not {near}": "{value} 应写作 {near}",
    "{value} is not one of {values}": "{value} 不是 {values} 之一",
    "unknown key {name}": "未知的键 {name}",
    "unknown key {name}; did you mean {near}?": "未知的键 {name}；是否为 {near}？",
    "{name} is missing": "缺少 {name}",
    "{name} is empty": "{name} 为空",
    '"on" conflicts with dump_debug "on"': '"on" 与 dump_debug 的 "on" 冲突',
    '"on" conflicts with dump_scene {scene}': '"on" 与 dump_scene 的 {scene} 冲突',
    '{mode} with dump_scene "watcher", expected "output"': (
        'dump_scene 为 "watcher" 时应为 "output"，而不是 {mode}'
    ),
    "{n} bytes long, at most {most} are allowed": "长 {n} 字节，最多允许 {most} 字节",
    "forbidden characters after the address: {characters}": "地址之后有不允许的字符：{characters}",
    "{path} does not exist on this machine": "{path} 在本机上不存在",
    "{path} does not exist on this machine, relative to the current directory": (
        "{path} 在本机上不存在（相对于当前目录）"
    ),
    "{path} is not a directory on this machine": "{path} 在本机上不是目录",
    "{path} cannot be read and written by this user": "当前用户不能读写 {path}",
    "{n} items, at most {most} are allowed": "有 {n} 项，最多允许 {most} 项",
    "item {i} is empty": "第 {i} 项为空",
    "item {i}, {item}, has more than one dash": "第 {i} 项 {item} 有不止一个短横",
    "item {i}, {item}, is not a number or a range such as 5-10": (
        "第 {i} 项 {item} 既不是数字，也不是 5-10 这样的范围"
    ),
    "item {i}, {item}, is a range that ends before it begins": (
        "第 {i} 项 {item} 的范围在开始之前结束"
    ),
    "{name} needs {key} {value}; {key} is {found}": (
        "{name} 要求 {key} 为 {value}；{key} 现为 {found}"
    ),
    "{name} needs {key} {value}; {key} is missing, which means {found}": (
        "{name} 要求 {key} 为 {value}；{key} 缺省时为 {found}"
    ),
    "layer is empty; leave it out to select all operators": "layer 为空；要选择所有算子，请去掉它",
    'watcher_nodes needs dump_scene "watcher"': 'watcher_nodes 要求 dump_scene 为 "watcher"',
    'a model_name is not allowed with dump_scene "watcher"': (
        'dump_scene 为 "watcher" 时不允许有 model_name'
    ),
    "opname_range needs a model_name, which is missing": "opname_range 需要 model_name，而它缺失",
    "opname_range needs a model_name, which is empty": "opname_range 需要 model_name，而它为空",
    "{name} of the range is missing": "范围缺少 {name}",
    "{name} of the range is empty": "范围的 {name} 为空",
    (
        "the graph engine refuses this ({reason}): operators of graphs are not dumped, and only "
        "its log says so"
    ): ("图引擎拒绝（{reason}）：不会 dump 图中的算子，且只在日志中说明"),
    "{path} is taken literally": "{path} 按字面处理",
    "{host} is not an IPv4 address followed by a path, so all of it is a local path": (
        "{host} 不是 IPv4 地址加路径，所以整体是本地路径"
    ),
    "only messages of kernels are dumped": "只 dump kernel 的打印信息",
    "nothing is dumped": "不会 dump 任何内容",
    "nothing is dumped: dump_list is empty; [{{}}] would select all operators of all models": (
        "不会 dump 任何内容：dump_list 为空；[{{}}] 会选择所有模型的所有算子"
    ),
    "{name} is ignored in an exception scene": "异常算子 Dump 场景下 {name} 不起作用",
    "dump_kernel_data is ignored in an exception scene without dump_path": (
        "异常算子 Dump 场景下没有 dump_path 时 dump_kernel_data 不起作用"
    ),
    "not every device and driver supports this scene": "并非所有设备和驱动都支持该场景",
    "dump_mode is ignored: an overflow dump has inputs and outputs": (
        "dump_mode 不起作用：溢出 dump 总是包含输入和输出"
    ),
    "{name} is ignored: an overflow dump has tensors": "{name} 不起作用：溢出 dump 总是张量",
    "no operator is watched": "没有被观察的算子",
    'release 8.5.0 refuses a watcher without "dump_mode": "output"': (
        '8.5.0 版本拒绝没有 "dump_mode": "output" 的 watcher'
    ),
    'dump_list selects operators of graphs, which dump_level "kernel" leaves out': (
        'dump_list 选择图中的算子，而 dump_level 为 "kernel" 时不 dump 它们'
    ),
    (
        "{character} in {name} is no wildcard; 'fastdump config new' with --like DUMP writes the "
        "names that it stands for"
    ): (
        "{name} 中的 {character} 不是通配符；'fastdump config new' 加 --like DUMP "
        "会写出它所代表的名称"
    ),
    "{name} is in watcher_nodes too: nothing is dumped again after it": (
        "{name} 也在 watcher_nodes 中：在它之后不再重复 dump"
    ),
    "this entry is dropped, because its {name} is empty; the other entries stay": (
        "该项的 {name} 为空，因此被丢弃；其余项保留"
    ),
    (
        "this entry is dropped, because its {name} is empty; no entry is left, so all models are "
        "dumped"
    ): ("该项的 {name} 为空，因此被丢弃；没有剩余的项，所以 dump 所有模型"),
    "this entry does not count: entry {i} has the same model_name": (
        "该项不起作用：第 {i} 项的 model_name 相同"
    ),
    "this entry does not count: entry {i} has no model_name either": (
        "该项不起作用：第 {i} 项也没有 model_name"
    ),
    "this entry does not count: entry {i}, which has no model_name, decides for all models": (
        "该项不起作用：第 {i} 项没有 model_name，它决定所有模型"
    ),
    "this item excludes nothing: its {name} is missing or empty": (
        "该项不排除任何内容：它的 {name} 缺失或为空"
    ),
    "{position} is not inputN or outputN and is ignored": (
        "{position} 不是 inputN 或 outputN，不起作用"
    ),
    "{position} is not dumped anyway, with dump_mode {mode}": (
        "dump_mode 为 {mode} 时 {position} 本来就不 dump"
    ),
    "the outermost value is {found}": "最外层的值是 {found}",
    "{name} is {found}": "{name} 是 {found}",
    "{name} holds {found}": "{name} 中有 {found}",
    "dump_debug is on and there is a dump_list": "dump_debug 为 on，同时有 dump_list",
    "{name} is on and there is a dump_scene": "{name} 为 on，同时有 dump_scene",
    "dump_mode of a watcher is not output": "watcher 的 dump_mode 不是 output",
    "dump_path is too long": "dump_path 过长",
    "forbidden characters in dump_path: {characters}": "dump_path 中有不允许的字符：{characters}",
    "dump_step has more than {most} items": "dump_step 超过 {most} 项",
    "dump_step has {item}": "dump_step 中有 {item}",
    "opname_range without dump_level op": "有 opname_range，但 dump_level 不是 op",
    "opname_range without model_name": "有 opname_range，但没有 model_name",
    "a range without begin or end": "范围没有 begin 或 end",
    "dump_stats without dump_data stats": "有 dump_stats，但 dump_data 不是 stats",
    "line {line}, column {column}": "第 {line} 行第 {column} 列",
    "{path} ({line})": "{path}（{line}）",
    "Nothing: no dump_list, no switch, no scene.": "没有内容：没有 dump_list，没有开关，没有场景。",
    "Only what kernels print: {kinds}.": "只有 kernel 的打印信息：{kinds}。",
    "What kernels print: {kinds}.": "kernel 的打印信息：{kinds}。",
    (
        "Inputs, outputs and workspaces of operators that fail with an AI Core error, as bytes "
        "without a type."
    ): ("发生 AI Core 错误的算子的输入、输出和 workspace，为不带数据类型的字节。"),
    (
        "Inputs, outputs and workspaces of operators that fail with an AI Core error, with "
        "shapes, types, formats and attributes."
    ): ("发生 AI Core 错误的算子的输入、输出和 workspace，带形状、数据类型、格式和属性。"),
    (
        "Inputs, outputs and workspaces of operators that fail with an AI Core error, with the "
        "memory, the registers and the call stack of the AI Cores."
    ): ("发生 AI Core 错误的算子的输入、输出和 workspace，以及 AI Core 的内存、寄存器和调用栈。"),
    "Inputs and outputs of every AI Core operator that overflows.": (
        "每个溢出的 AI Core 算子的输入和输出。"
    ),
    "What the status registers say of every overflow.": "每次溢出时状态寄存器的内容。",
    "Inputs of {operators}.": "{operators}的输入。",
    "Outputs of {operators}.": "{operators}的输出。",
    "Inputs and outputs of {operators}.": "{operators}的输入和输出。",
    "{statistics} of inputs of {operators}, in CSV files.": (
        "{operators}的输入的 {statistics}，为 CSV 文件。"
    ),
    "{statistics} of outputs of {operators}, in CSV files.": (
        "{operators}的输出的 {statistics}，为 CSV 文件。"
    ),
    "{statistics} of inputs and outputs of {operators}, in CSV files.": (
        "{operators}的输入和输出的 {statistics}，为 CSV 文件。"
    ),
    "But not {tensors}.": "但不包括{tensors}。",
    "Only these steps: {steps}.": "只有这些步数：{steps}。",
    "All steps.": "所有步数。",
    "No operator is watched, because no entry has watcher_nodes.": (
        "没有被观察的算子，因为没有一项有 watcher_nodes。"
    ),
    "Outputs of {watched} after they have run, and again after each operator has run.": (
        "{watched} 的输出，在它们执行之后，以及每个算子执行之后。"
    ),
    "Outputs of {watched} after they have run, and again after each of {executed} has run.": (
        "{watched} 的输出，在它们执行之后，以及 {executed} 各自执行之后。"
    ),
    "If the two differ, memory was overwritten between them.": (
        "如果两者不同，说明内存在此期间被踩踏。"
    ),
    "all operators of all models": "所有模型的所有算子",
    "all operators of model {model}": "模型 {model} 的所有算子",
    "operators {names} of all models": "所有模型中 {names} 等算子",
    "operators {names} of model {model}": "模型 {model} 中 {names} 等算子",
    "{begin} to {end}": "{begin} 至 {end}",
    "operators that are run one by one": "单独执行的算子",
    "kernels of the single-operator API (aclnn)": "单算子 API（aclnn）的 kernel",
    "{positions} of operators of type {name}": "类型为 {name} 的算子的 {positions}",
    "{positions} of operators of name {name}": "名称为 {name} 的算子的 {positions}",
    "{positions} of operators of type {name} of model {model}": (
        "模型 {model} 中类型为 {name} 的算子的 {positions}"
    ),
    "{positions} of operators of name {name} of model {model}": (
        "模型 {model} 中名称为 {name} 的算子的 {positions}"
    ),
    "{names} and {other}": "{names} 和 {other}",
    "{names} and {n} more": "{names} 以及另外 {n} 个",
    "the end of the text": "文本末尾",
    "expected value, found {found}": "应为值，却是 {found}",
    "expected ',' delimiter, found {found}": "应为 ',' 分隔符，却是 {found}",
    "expected ':' delimiter, found {found}": "应为 ':' 分隔符，却是 {found}",
    "expected property name enclosed in double quotes, found {found}": (
        "应为双引号括起的键名，却是 {found}"
    ),
    "unterminated string": "字符串没有结束",
    "invalid control character": "不允许的控制字符",
    "invalid \\escape": "无效的 \\escape",
    "invalid \\uXXXX escape": "无效的 \\uXXXX 转义",
    "extra data": "多余的内容",
    "illegal trailing comma before end of object": "对象末尾有多余的逗号",
    "illegal trailing comma before end of array": "数组末尾有多余的逗号",
    # Pages
    "Contents": "目录",
    "command": "命令",
    "show": "显示",
    "copy": "复制",
    "copied": "已复制",
    "selected": "已选中",
    "filter: words, or rank:1 layer:0-3": "筛选：词，或 rank:1 layer:0-3",
    "Filter {table}": "筛选 {table}",
    "{n} row": "{n} 行",
    "{n} rows": "{n} 行",
    "{n} of {rows}": "{rows}中的 {n} 行",
    "The worst {n} of {all} rows.": "{all} 行中最差的 {n} 行。",
    "The first {n} of {all}.": "{all} 行中的前 {n} 行。",
    "dump": "dump 数据",
    "ranks": "rank",
    "steps": "步数",
    "read": "读取",
    "compared": "比对",
    "paired by": "配对依据",
    "tolerances": "容差",
    "made": "生成",
    "not known": "未知",
    "{tensors} of {files}, {nbytes}, level {level}": (
        "{files}中的{tensors}，{nbytes}，level {level}"
    ),
    "{time}, fastdump {version}": "{time}，fastdump {version}",
    "those of the element types": "各数据类型的默认值",
    "Answer": "结论",
    "In full": "详情",
    "Summary": "概要",
    "How it spread": "传播过程",
    "Findings": "问题",
    "Where it is bad": "异常的位置",
    "How large values are": "数值的大小",
    "Tensors": "张量",
    "The tensors where it began": "起源处的张量",
    "Where they part": "不一致的位置",
    "Operators and pairs": "算子与张量对",
    "The most urgent first": "最紧急的在前",
    "The worst first": "最差的在前",
    "Element types": "数据类型",
    "Bad on purpose, so no findings": "有意为之，不算问题",
    "Operators by the error that they add": "按新增误差排列的算子",
    "Worst pairs": "最差的张量对",
    "Without a partner": "没有对应张量",
    "{n} finding more, which --json lists.": "另有 {n} 个问题，由 --json 列出。",
    "{n} findings more, which --json lists.": "另有 {n} 个问题，由 --json 列出。",
    "From the origin on, in the order of execution": "从起源开始，按执行顺序",
    "From the origin on, in the order of execution; {operators} more": (
        "从起源开始，按执行顺序；另有{operators}"
    ),
    "origin": "起源",
    "infected": "被感染",
    "{tensor}; known by {ways}": "{tensor}；依据 {ways}",
    "{tensor}: {counts}": "{tensor}：{counts}",
    "{tensor}: {low} to {high}": "{tensor}：{low} 至 {high}",
    "layer": "层",
    "rank": "rank",
    "step": "step",
    "op_type": "算子类型",
    "execution": "执行顺序",
    "type of operator": "算子类型",
    "all": "全部",
    "{label} {name}": "{label} {name}",
    "largest of {n} {label}s": "{n} 个 {label} 中最大的",
    "median of {n} {label}s": "{n} 个 {label} 的中位数",
    "least of {n} {label}s": "{n} 个 {label} 中最小的",
    "pair of tensors": "张量对",
    "Health by {y} and {x}": "按 {y} 与 {x} 的健康状况",
    "Along the execution": "沿执行顺序",
    "Along the execution of step {step}": "沿 step {step} 的执行顺序",
    "{state}: {tensors}, first {tensor}": "{state}：{tensors}，第一个是 {tensor}",
    "nothing bad": "正常",
    "-Inf or the least value, often a mask": "-Inf 或最小值，多为掩码",
    "within 2x of the largest value": "距最大值不到 2 倍",
    "at the largest value of its type": "达到数据类型的最大值",
    "not read whole": "未完整读取",
    "NaN or +Inf": "NaN 或 +Inf",
    "The most urgent state of any tensor.": "所有张量中最紧急的状态。",
    "A ring marks where it began.": "圆圈标出起源。",
    "A click on a cell lists its tensors.": "点击一格，列出其中的张量。",
    "Executions of operators from left to right, as each rank ran them.": (
        "从左到右是各 rank 依次执行的算子。"
    ),
    "Root mean square of outputs over layers": "各层输出的均方根",
    "Root mean square of outputs over steps": "各步输出的均方根",
    "Root mean square of outputs by {y} and {x}": "按 {y} 与 {x} 的输出均方根",
    "root mean square": "均方根",
    "Of the finite elements of all outputs of a layer.": "一层所有输出的有限元素。",
    "Of the finite elements of all outputs of a step.": "一步所有输出的有限元素。",
    "Of the finite elements of all outputs of a layer in a step.": "一步中一层所有输出的有限元素。",
    "Largest magnitude of finite elements over layers": "各层有限元素的最大绝对值",
    "Largest magnitude of finite elements over steps": "各步有限元素的最大绝对值",
    "magnitude": "绝对值",
    "Of all tensors of floats but masks.": "掩码以外的所有浮点张量。",
    "Share of zero, subnormal and saturated elements over layers": (
        "各层零、次正规数和饱和元素的比例"
    ),
    "Share of zero, subnormal and saturated elements over steps": (
        "各步零、次正规数和饱和元素的比例"
    ),
    "share of elements": "元素比例",
    "{dtype} zero": "{dtype} 零",
    "{dtype} subnormal": "{dtype} 次正规数",
    "{dtype} saturated": "{dtype} 饱和",
    "Zeros and subnormals are what underflow leaves, saturated elements what overflow.": (
        "零和次正规数是下溢留下的，饱和元素是上溢留下的。"
    ),
    "Headroom of float16, the least of all tensors": "float16 的余量，取所有张量的最小值",
    "times larger": "倍",
    "How many times larger values could become before float16 ends.": (
        "数值再增大多少倍就会超出 float16。"
    ),
    "Bad elements from the origin on": "从起源开始的异常元素",
    "operator, in the order of execution": "算子，按执行顺序",
    "share of elements that are NaN or Inf": "NaN 或 Inf 元素的比例",
    "bad": "异常",
    "Magnitudes of {tensor}, {dtype}": "{tensor} 的绝对值分布，{dtype}",
    "magnitude, from this power of two on": "绝对值，从该 2 的幂起",
    "number of elements": "元素个数",
    "number of elements, {n} of {size}": "元素个数，抽取 {size} 个中的 {n} 个",
    "least normal": "最小正规数",
    "Of {operator}. Zeros are on the left, what is not finite on the right.": (
        "{operator} 的张量。零在左端，非有限值在右端。"
    ),
    "{tensor} of {path}: {error}": "{path} 的 {tensor}：{error}",
    "Error along the execution": "沿执行顺序的误差",
    "relative distance": "相对距离",
    "first divergence": "首个不一致处",
    (
        "One point a pair of tensors, the first of a on the left. Pairs that are equal, or "
        "nearer than 1e-12, are at the bottom, pairs with NaN or Inf in only one of the two at "
        "the top."
    ): (
        "每个点是一对张量，a 中最先的在左端。相同或距离小于 1e-12 的张量对在底部，仅一方有 NaN "
        "或 Inf 的在顶部。"
    ),
    "Verdicts by {y} and {x}": "按 {y} 与 {x} 的判定",
    "The most urgent verdict of any pair.": "所有张量对中最紧急的判定。",
    "A ring marks the first divergence.": "圆圈标出首个不一致处。",
    "A click on a cell lists its pairs.": "点击一格，列出其中的张量对。",
    "{verdict}: {pair}": "{verdict}：{pair}",
    "equal": "相同",
    "within tolerance": "在容差内",
    "explained by precision": "可由精度解释",
    "diverges, passed on": "不一致，由上游传来",
    "diverges by itself": "不一致，由自身产生",
    "{text} {sentence}": "{text}{sentence}",
}
