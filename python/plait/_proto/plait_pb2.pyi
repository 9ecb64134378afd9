# SPDX-License-Identifier: Apache-2.0
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StatementKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATEMENT_KIND_UNSPECIFIED: _ClassVar[StatementKind]
    STATEMENT_KIND_QUERY: _ClassVar[StatementKind]
    STATEMENT_KIND_COMMAND: _ClassVar[StatementKind]

class TableKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TABLE_KIND_UNSPECIFIED: _ClassVar[TableKind]
    TABLE_KIND_TABLE: _ClassVar[TableKind]
    TABLE_KIND_VIEW: _ClassVar[TableKind]
    TABLE_KIND_TEMPORARY_VIEW: _ClassVar[TableKind]

class OutputMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTPUT_MODE_UNSPECIFIED: _ClassVar[OutputMode]
    OUTPUT_MODE_APPEND: _ClassVar[OutputMode]
    OUTPUT_MODE_UPDATE: _ClassVar[OutputMode]
    OUTPUT_MODE_COMPLETE: _ClassVar[OutputMode]

class StreamState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STREAM_STATE_UNSPECIFIED: _ClassVar[StreamState]
    STREAM_STATE_RUNNING: _ClassVar[StreamState]
    STREAM_STATE_FINISHED: _ClassVar[StreamState]
    STREAM_STATE_STOPPED: _ClassVar[StreamState]
    STREAM_STATE_FAILED: _ClassVar[StreamState]

class OperationState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPERATION_STATE_UNSPECIFIED: _ClassVar[OperationState]
    OPERATION_STATE_QUEUED: _ClassVar[OperationState]
    OPERATION_STATE_RUNNING: _ClassVar[OperationState]
    OPERATION_STATE_FINISHED: _ClassVar[OperationState]
    OPERATION_STATE_FAILED: _ClassVar[OperationState]
    OPERATION_STATE_CANCELLED: _ClassVar[OperationState]
STATEMENT_KIND_UNSPECIFIED: StatementKind
STATEMENT_KIND_QUERY: StatementKind
STATEMENT_KIND_COMMAND: StatementKind
TABLE_KIND_UNSPECIFIED: TableKind
TABLE_KIND_TABLE: TableKind
TABLE_KIND_VIEW: TableKind
TABLE_KIND_TEMPORARY_VIEW: TableKind
OUTPUT_MODE_UNSPECIFIED: OutputMode
OUTPUT_MODE_APPEND: OutputMode
OUTPUT_MODE_UPDATE: OutputMode
OUTPUT_MODE_COMPLETE: OutputMode
STREAM_STATE_UNSPECIFIED: StreamState
STREAM_STATE_RUNNING: StreamState
STREAM_STATE_FINISHED: StreamState
STREAM_STATE_STOPPED: StreamState
STREAM_STATE_FAILED: StreamState
OPERATION_STATE_UNSPECIFIED: OperationState
OPERATION_STATE_QUEUED: OperationState
OPERATION_STATE_RUNNING: OperationState
OPERATION_STATE_FINISHED: OperationState
OPERATION_STATE_FAILED: OperationState
OPERATION_STATE_CANCELLED: OperationState

class ExecuteRequest(_message.Message):
    __slots__ = ("session", "sql", "named", "positional", "operation", "reattachable", "stack", "prepared", "server")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    POSITIONAL_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    REATTACHABLE_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    session: str
    sql: str
    named: _containers.MessageMap[str, Value]
    positional: _containers.RepeatedCompositeFieldContainer[Value]
    operation: str
    reattachable: bool
    stack: bool
    prepared: str
    server: str
    def __init__(self, session: _Optional[str] = ..., sql: _Optional[str] = ..., named: _Optional[_Mapping[str, Value]] = ..., positional: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., operation: _Optional[str] = ..., reattachable: bool = ..., stack: bool = ..., prepared: _Optional[str] = ..., server: _Optional[str] = ...) -> None: ...

class ExecuteResponse(_message.Message):
    __slots__ = ("operation", "schema", "batch", "progress", "finished")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    operation: str
    schema: Schema
    batch: Batch
    progress: Progress
    finished: Finished
    def __init__(self, operation: _Optional[str] = ..., schema: _Optional[_Union[Schema, _Mapping]] = ..., batch: _Optional[_Union[Batch, _Mapping]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ...) -> None: ...

class AttachRequest(_message.Message):
    __slots__ = ("session", "operation", "next_offset")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    session: str
    operation: str
    next_offset: int
    def __init__(self, session: _Optional[str] = ..., operation: _Optional[str] = ..., next_offset: _Optional[int] = ...) -> None: ...

class AttachResponse(_message.Message):
    __slots__ = ("response",)
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    response: ExecuteResponse
    def __init__(self, response: _Optional[_Union[ExecuteResponse, _Mapping]] = ...) -> None: ...

class Schema(_message.Message):
    __slots__ = ("arrow",)
    ARROW_FIELD_NUMBER: _ClassVar[int]
    arrow: bytes
    def __init__(self, arrow: _Optional[bytes] = ...) -> None: ...

class Batch(_message.Message):
    __slots__ = ("offset", "rows", "arrow")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ARROW_FIELD_NUMBER: _ClassVar[int]
    offset: int
    rows: int
    arrow: bytes
    def __init__(self, offset: _Optional[int] = ..., rows: _Optional[int] = ..., arrow: _Optional[bytes] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("stages", "stages_done", "tasks", "tasks_done", "tasks_failed")
    STAGES_FIELD_NUMBER: _ClassVar[int]
    STAGES_DONE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    TASKS_DONE_FIELD_NUMBER: _ClassVar[int]
    TASKS_FAILED_FIELD_NUMBER: _ClassVar[int]
    stages: int
    stages_done: int
    tasks: int
    tasks_done: int
    tasks_failed: int
    def __init__(self, stages: _Optional[int] = ..., stages_done: _Optional[int] = ..., tasks: _Optional[int] = ..., tasks_done: _Optional[int] = ..., tasks_failed: _Optional[int] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("rows", "batches", "bytes", "milliseconds", "joins")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    JOINS_FIELD_NUMBER: _ClassVar[int]
    rows: int
    batches: int
    bytes: int
    milliseconds: int
    joins: _containers.RepeatedCompositeFieldContainer[JoinCounters]
    def __init__(self, rows: _Optional[int] = ..., batches: _Optional[int] = ..., bytes: _Optional[int] = ..., milliseconds: _Optional[int] = ..., joins: _Optional[_Iterable[_Union[JoinCounters, _Mapping]]] = ...) -> None: ...

class JoinCounters(_message.Message):
    __slots__ = ("join", "metrics")
    class MetricsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    JOIN_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    join: str
    metrics: _containers.ScalarMap[str, int]
    def __init__(self, join: _Optional[str] = ..., metrics: _Optional[_Mapping[str, int]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("boolean", "long", "double", "string", "binary", "decimal", "date", "timestamp", "timestamp_ntz", "interval_microseconds")
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    LONG_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_FIELD_NUMBER: _ClassVar[int]
    STRING_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    DECIMAL_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_NTZ_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MICROSECONDS_FIELD_NUMBER: _ClassVar[int]
    boolean: bool
    long: int
    double: float
    string: str
    binary: bytes
    decimal: str
    date: str
    timestamp: str
    timestamp_ntz: str
    interval_microseconds: int
    def __init__(self, boolean: bool = ..., long: _Optional[int] = ..., double: _Optional[float] = ..., string: _Optional[str] = ..., binary: _Optional[bytes] = ..., decimal: _Optional[str] = ..., date: _Optional[str] = ..., timestamp: _Optional[str] = ..., timestamp_ntz: _Optional[str] = ..., interval_microseconds: _Optional[int] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("session", "operation")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    session: str
    operation: str
    def __init__(self, session: _Optional[str] = ..., operation: _Optional[str] = ...) -> None: ...

class CancelResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: OperationState
    def __init__(self, state: _Optional[_Union[OperationState, str]] = ...) -> None: ...

class SubmitRequest(_message.Message):
    __slots__ = ("session", "sql", "named", "positional", "operation", "stack", "prepared")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    POSITIONAL_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    session: str
    sql: str
    named: _containers.MessageMap[str, Value]
    positional: _containers.RepeatedCompositeFieldContainer[Value]
    operation: str
    stack: bool
    prepared: str
    def __init__(self, session: _Optional[str] = ..., sql: _Optional[str] = ..., named: _Optional[_Mapping[str, Value]] = ..., positional: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., operation: _Optional[str] = ..., stack: bool = ..., prepared: _Optional[str] = ...) -> None: ...

class SubmitResponse(_message.Message):
    __slots__ = ("operation",)
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    operation: str
    def __init__(self, operation: _Optional[str] = ...) -> None: ...

class StatusRequest(_message.Message):
    __slots__ = ("session", "operation")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    session: str
    operation: str
    def __init__(self, session: _Optional[str] = ..., operation: _Optional[str] = ...) -> None: ...

class StatusResponse(_message.Message):
    __slots__ = ("operation",)
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    operation: Operation
    def __init__(self, operation: _Optional[_Union[Operation, _Mapping]] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("session", "limit")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    session: str
    limit: int
    def __init__(self, session: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("operations", "more")
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    more: bool
    def __init__(self, operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ..., more: bool = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("session", "operation", "state", "created", "started", "ended", "batches", "progress", "finished", "error")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    session: str
    operation: str
    state: OperationState
    created: int
    started: int
    ended: int
    batches: int
    progress: Progress
    finished: Finished
    error: OperationError
    def __init__(self, session: _Optional[str] = ..., operation: _Optional[str] = ..., state: _Optional[_Union[OperationState, str]] = ..., created: _Optional[int] = ..., started: _Optional[int] = ..., ended: _Optional[int] = ..., batches: _Optional[int] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ..., error: _Optional[_Union[OperationError, _Mapping]] = ...) -> None: ...

class OperationError(_message.Message):
    __slots__ = ("status", "message", "detail")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    status: str
    message: str
    detail: ErrorDetail
    def __init__(self, status: _Optional[str] = ..., message: _Optional[str] = ..., detail: _Optional[_Union[ErrorDetail, _Mapping]] = ...) -> None: ...

class ValidateRequest(_message.Message):
    __slots__ = ("session", "sql", "named", "positional", "stack")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    POSITIONAL_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    session: str
    sql: str
    named: _containers.MessageMap[str, Value]
    positional: _containers.RepeatedCompositeFieldContainer[Value]
    stack: bool
    def __init__(self, session: _Optional[str] = ..., sql: _Optional[str] = ..., named: _Optional[_Mapping[str, Value]] = ..., positional: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., stack: bool = ...) -> None: ...

class ValidateResponse(_message.Message):
    __slots__ = ("kind", "schema", "parameters")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    kind: StatementKind
    schema: Schema
    parameters: _containers.RepeatedCompositeFieldContainer[Parameter]
    def __init__(self, kind: _Optional[_Union[StatementKind, str]] = ..., schema: _Optional[_Union[Schema, _Mapping]] = ..., parameters: _Optional[_Iterable[_Union[Parameter, _Mapping]]] = ...) -> None: ...

class Parameter(_message.Message):
    __slots__ = ("name", "position")
    NAME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    name: str
    position: Position
    def __init__(self, name: _Optional[str] = ..., position: _Optional[_Union[Position, _Mapping]] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ("session", "sql", "named", "positional", "stack")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    POSITIONAL_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    session: str
    sql: str
    named: _containers.MessageMap[str, Value]
    positional: _containers.RepeatedCompositeFieldContainer[Value]
    stack: bool
    def __init__(self, session: _Optional[str] = ..., sql: _Optional[str] = ..., named: _Optional[_Mapping[str, Value]] = ..., positional: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., stack: bool = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("plan", "report", "sides")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    SIDES_FIELD_NUMBER: _ClassVar[int]
    plan: str
    report: str
    sides: _containers.RepeatedCompositeFieldContainer[ExplainedSide]
    def __init__(self, plan: _Optional[str] = ..., report: _Optional[str] = ..., sides: _Optional[_Iterable[_Union[ExplainedSide, _Mapping]]] = ...) -> None: ...

class ExplainedSide(_message.Message):
    __slots__ = ("join", "node", "side", "pruned_by", "why_not", "text")
    JOIN_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    PRUNED_BY_FIELD_NUMBER: _ClassVar[int]
    WHY_NOT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    join: str
    node: str
    side: str
    pruned_by: str
    why_not: WhyNot
    text: str
    def __init__(self, join: _Optional[str] = ..., node: _Optional[str] = ..., side: _Optional[str] = ..., pruned_by: _Optional[str] = ..., why_not: _Optional[_Union[WhyNot, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class WhyNot(_message.Message):
    __slots__ = ("code", "arguments", "sentence")
    CODE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    code: str
    arguments: _containers.RepeatedScalarFieldContainer[str]
    sentence: str
    def __init__(self, code: _Optional[str] = ..., arguments: _Optional[_Iterable[str]] = ..., sentence: _Optional[str] = ...) -> None: ...

class PrepareRequest(_message.Message):
    __slots__ = ("session", "prepared", "sql", "named", "positional", "stack")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    POSITIONAL_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    session: str
    prepared: str
    sql: str
    named: _containers.MessageMap[str, Value]
    positional: _containers.RepeatedCompositeFieldContainer[Value]
    stack: bool
    def __init__(self, session: _Optional[str] = ..., prepared: _Optional[str] = ..., sql: _Optional[str] = ..., named: _Optional[_Mapping[str, Value]] = ..., positional: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., stack: bool = ...) -> None: ...

class PrepareResponse(_message.Message):
    __slots__ = ("prepared", "statement")
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    prepared: str
    statement: ValidateResponse
    def __init__(self, prepared: _Optional[str] = ..., statement: _Optional[_Union[ValidateResponse, _Mapping]] = ...) -> None: ...

class UnprepareRequest(_message.Message):
    __slots__ = ("session", "prepared")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    session: str
    prepared: str
    def __init__(self, session: _Optional[str] = ..., prepared: _Optional[str] = ...) -> None: ...

class UnprepareResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CloseSessionRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: str
    def __init__(self, session: _Optional[str] = ...) -> None: ...

class CloseSessionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CatalogRequest(_message.Message):
    __slots__ = ("session", "catalog", "database", "pattern", "page_size", "page_token")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    CATALOG_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session: str
    catalog: str
    database: str
    pattern: str
    page_size: int
    page_token: str
    def __init__(self, session: _Optional[str] = ..., catalog: _Optional[str] = ..., database: _Optional[str] = ..., pattern: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class CatalogResponse(_message.Message):
    __slots__ = ("tables", "next_page_token")
    TABLES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tables: _containers.RepeatedCompositeFieldContainer[Table]
    next_page_token: str
    def __init__(self, tables: _Optional[_Iterable[_Union[Table, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Table(_message.Message):
    __slots__ = ("catalog", "database", "name", "kind", "comment", "columns")
    CATALOG_FIELD_NUMBER: _ClassVar[int]
    DATABASE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    catalog: str
    database: str
    name: str
    kind: TableKind
    comment: str
    columns: _containers.RepeatedCompositeFieldContainer[Column]
    def __init__(self, catalog: _Optional[str] = ..., database: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[TableKind, str]] = ..., comment: _Optional[str] = ..., columns: _Optional[_Iterable[_Union[Column, _Mapping]]] = ...) -> None: ...

class Column(_message.Message):
    __slots__ = ("name", "type", "nullable", "comment")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NULLABLE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: str
    nullable: bool
    comment: str
    def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., nullable: bool = ..., comment: _Optional[str] = ...) -> None: ...

class StartStreamRequest(_message.Message):
    __slots__ = ("session", "sql", "named", "positional", "stream", "table", "files", "nowhere", "checkpoint", "trigger", "mode", "stack")
    class NamedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SQL_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    POSITIONAL_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    NOWHERE_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    session: str
    sql: str
    named: _containers.MessageMap[str, Value]
    positional: _containers.RepeatedCompositeFieldContainer[Value]
    stream: str
    table: str
    files: FileSink
    nowhere: NoSink
    checkpoint: str
    trigger: StreamTrigger
    mode: OutputMode
    stack: bool
    def __init__(self, session: _Optional[str] = ..., sql: _Optional[str] = ..., named: _Optional[_Mapping[str, Value]] = ..., positional: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., stream: _Optional[str] = ..., table: _Optional[str] = ..., files: _Optional[_Union[FileSink, _Mapping]] = ..., nowhere: _Optional[_Union[NoSink, _Mapping]] = ..., checkpoint: _Optional[str] = ..., trigger: _Optional[_Union[StreamTrigger, _Mapping]] = ..., mode: _Optional[_Union[OutputMode, str]] = ..., stack: bool = ...) -> None: ...

class FileSink(_message.Message):
    __slots__ = ("format", "path", "options")
    class OptionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    format: str
    path: str
    options: _containers.ScalarMap[str, str]
    def __init__(self, format: _Optional[str] = ..., path: _Optional[str] = ..., options: _Optional[_Mapping[str, str]] = ...) -> None: ...

class NoSink(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StreamTrigger(_message.Message):
    __slots__ = ("every_milliseconds", "available_now")
    EVERY_MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_NOW_FIELD_NUMBER: _ClassVar[int]
    every_milliseconds: int
    available_now: AvailableNow
    def __init__(self, every_milliseconds: _Optional[int] = ..., available_now: _Optional[_Union[AvailableNow, _Mapping]] = ...) -> None: ...

class AvailableNow(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StartStreamResponse(_message.Message):
    __slots__ = ("stream",)
    STREAM_FIELD_NUMBER: _ClassVar[int]
    stream: Stream
    def __init__(self, stream: _Optional[_Union[Stream, _Mapping]] = ...) -> None: ...

class ListStreamsRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class ListStreamsResponse(_message.Message):
    __slots__ = ("streams", "more")
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    streams: _containers.RepeatedCompositeFieldContainer[Stream]
    more: bool
    def __init__(self, streams: _Optional[_Iterable[_Union[Stream, _Mapping]]] = ..., more: bool = ...) -> None: ...

class Stream(_message.Message):
    __slots__ = ("stream", "query", "state", "started", "ended", "sink", "mode", "table", "last", "error")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    SINK_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    stream: str
    query: str
    state: StreamState
    started: int
    ended: int
    sink: str
    mode: OutputMode
    table: str
    last: StreamRecord
    error: OperationError
    def __init__(self, stream: _Optional[str] = ..., query: _Optional[str] = ..., state: _Optional[_Union[StreamState, str]] = ..., started: _Optional[int] = ..., ended: _Optional[int] = ..., sink: _Optional[str] = ..., mode: _Optional[_Union[OutputMode, str]] = ..., table: _Optional[str] = ..., last: _Optional[_Union[StreamRecord, _Mapping]] = ..., error: _Optional[_Union[OperationError, _Mapping]] = ...) -> None: ...

class StreamProgressRequest(_message.Message):
    __slots__ = ("stream", "after", "kept_only", "started")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    KEPT_ONLY_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    stream: str
    after: int
    kept_only: bool
    started: int
    def __init__(self, stream: _Optional[str] = ..., after: _Optional[int] = ..., kept_only: bool = ..., started: _Optional[int] = ...) -> None: ...

class StreamProgressResponse(_message.Message):
    __slots__ = ("record", "stream")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    record: StreamRecord
    stream: Stream
    def __init__(self, record: _Optional[_Union[StreamRecord, _Mapping]] = ..., stream: _Optional[_Union[Stream, _Mapping]] = ...) -> None: ...

class StreamRecord(_message.Message):
    __slots__ = ("number", "batch", "time", "rows_in", "milliseconds", "sides", "json", "started")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ROWS_IN_FIELD_NUMBER: _ClassVar[int]
    MILLISECONDS_FIELD_NUMBER: _ClassVar[int]
    SIDES_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    number: int
    batch: int
    time: int
    rows_in: int
    milliseconds: int
    sides: _containers.RepeatedCompositeFieldContainer[StreamSide]
    json: str
    started: int
    def __init__(self, number: _Optional[int] = ..., batch: _Optional[int] = ..., time: _Optional[int] = ..., rows_in: _Optional[int] = ..., milliseconds: _Optional[int] = ..., sides: _Optional[_Iterable[_Union[StreamSide, _Mapping]]] = ..., json: _Optional[str] = ..., started: _Optional[int] = ...) -> None: ...

class StreamSide(_message.Message):
    __slots__ = ("join", "side", "rows_in", "rows_late", "rows_stored", "rows_pruned", "pairs", "frontier", "state_bytes", "bound", "bytes_stored")
    JOIN_FIELD_NUMBER: _ClassVar[int]
    SIDE_FIELD_NUMBER: _ClassVar[int]
    ROWS_IN_FIELD_NUMBER: _ClassVar[int]
    ROWS_LATE_FIELD_NUMBER: _ClassVar[int]
    ROWS_STORED_FIELD_NUMBER: _ClassVar[int]
    ROWS_PRUNED_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    FRONTIER_FIELD_NUMBER: _ClassVar[int]
    STATE_BYTES_FIELD_NUMBER: _ClassVar[int]
    BOUND_FIELD_NUMBER: _ClassVar[int]
    BYTES_STORED_FIELD_NUMBER: _ClassVar[int]
    join: int
    side: str
    rows_in: int
    rows_late: int
    rows_stored: int
    rows_pruned: int
    pairs: int
    frontier: int
    state_bytes: int
    bound: int
    bytes_stored: int
    def __init__(self, join: _Optional[int] = ..., side: _Optional[str] = ..., rows_in: _Optional[int] = ..., rows_late: _Optional[int] = ..., rows_stored: _Optional[int] = ..., rows_pruned: _Optional[int] = ..., pairs: _Optional[int] = ..., frontier: _Optional[int] = ..., state_bytes: _Optional[int] = ..., bound: _Optional[int] = ..., bytes_stored: _Optional[int] = ...) -> None: ...

class StopStreamRequest(_message.Message):
    __slots__ = ("stream",)
    STREAM_FIELD_NUMBER: _ClassVar[int]
    stream: str
    def __init__(self, stream: _Optional[str] = ...) -> None: ...

class StopStreamResponse(_message.Message):
    __slots__ = ("stream",)
    STREAM_FIELD_NUMBER: _ClassVar[int]
    stream: Stream
    def __init__(self, stream: _Optional[_Union[Stream, _Mapping]] = ...) -> None: ...

class ServerInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ServerInfoResponse(_message.Message):
    __slots__ = ("version", "spark_version", "scopes", "limits", "server")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SPARK_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    version: str
    spark_version: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    limits: Limits
    server: str
    def __init__(self, version: _Optional[str] = ..., spark_version: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., server: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("rows", "bytes", "running", "queued", "queue_seconds", "reattach_seconds", "session_seconds", "message_bytes", "submitted_seconds", "submitted", "prepared", "streams", "stream_records", "subscriptions", "continuous_tables", "unread_seconds", "request_bytes", "statement_characters")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    QUEUE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    REATTACH_SECONDS_FIELD_NUMBER: _ClassVar[int]
    SESSION_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SUBMITTED_SECONDS_FIELD_NUMBER: _ClassVar[int]
    SUBMITTED_FIELD_NUMBER: _ClassVar[int]
    PREPARED_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    STREAM_RECORDS_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    CONTINUOUS_TABLES_FIELD_NUMBER: _ClassVar[int]
    UNREAD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_BYTES_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    rows: int
    bytes: int
    running: int
    queued: int
    queue_seconds: float
    reattach_seconds: float
    session_seconds: float
    message_bytes: int
    submitted_seconds: float
    submitted: int
    prepared: int
    streams: int
    stream_records: int
    subscriptions: int
    continuous_tables: bool
    unread_seconds: float
    request_bytes: int
    statement_characters: int
    def __init__(self, rows: _Optional[int] = ..., bytes: _Optional[int] = ..., running: _Optional[int] = ..., queued: _Optional[int] = ..., queue_seconds: _Optional[float] = ..., reattach_seconds: _Optional[float] = ..., session_seconds: _Optional[float] = ..., message_bytes: _Optional[int] = ..., submitted_seconds: _Optional[float] = ..., submitted: _Optional[int] = ..., prepared: _Optional[int] = ..., streams: _Optional[int] = ..., stream_records: _Optional[int] = ..., subscriptions: _Optional[int] = ..., continuous_tables: bool = ..., unread_seconds: _Optional[float] = ..., request_bytes: _Optional[int] = ..., statement_characters: _Optional[int] = ...) -> None: ...

class ErrorDetail(_message.Message):
    __slots__ = ("condition", "sql_state", "parameters", "position", "operation", "stack", "server")
    class ParametersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    SQL_STATE_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    STACK_FIELD_NUMBER: _ClassVar[int]
    SERVER_FIELD_NUMBER: _ClassVar[int]
    condition: str
    sql_state: str
    parameters: _containers.ScalarMap[str, str]
    position: Position
    operation: str
    stack: str
    server: str
    def __init__(self, condition: _Optional[str] = ..., sql_state: _Optional[str] = ..., parameters: _Optional[_Mapping[str, str]] = ..., position: _Optional[_Union[Position, _Mapping]] = ..., operation: _Optional[str] = ..., stack: _Optional[str] = ..., server: _Optional[str] = ...) -> None: ...

class Position(_message.Message):
    __slots__ = ("line", "column", "start", "stop", "fragment")
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    FRAGMENT_FIELD_NUMBER: _ClassVar[int]
    line: int
    column: int
    start: int
    stop: int
    fragment: str
    def __init__(self, line: _Optional[int] = ..., column: _Optional[int] = ..., start: _Optional[int] = ..., stop: _Optional[int] = ..., fragment: _Optional[str] = ...) -> None: ...
