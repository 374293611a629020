import type { CallEnded, CallEvent } from '../../../src/domain/call/events.js'
import { opOf } from '../../../src/domain/call/op.js'
import { endStatus } from '../../../src/domain/call/status.js'
import { FIGURES, type ReportedUsage } from '../../../src/domain/call/usage.js'
import type { Json } from '../../../src/domain/json/json.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import type { ProjectChosen } from '../../../src/domain/project/events.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'

type Row = Readonly<Record<string, unknown>>
type Positioned = (CallEvent | ProjectChosen) & Pick<ProjectedEvent, 'position'>

/** What the tables hold of one project per event, in the order of the events; a project's number is its event's. */
export const readCalls = (clickHouse: ClickHouse, entity: string): Promise<readonly Row[]> =>
  clickHouse.writer.query<Row>(
    `SELECT * EXCEPT (project_id, input_refs, output_refs), start_bytes, end_bytes
    FROM calls FINAL WHERE startsWith(project_id, {prefix:String})
    ORDER BY toUInt32(splitByChar('/', project_id)[2])`,
    { prefix: `${entity}/` },
  )

export const readFacts = (clickHouse: ClickHouse, entity: string): Promise<readonly Row[]> =>
  clickHouse.writer.query<Row>(
    `SELECT * EXCEPT (project_id)
    FROM usage_facts FINAL WHERE startsWith(project_id, {prefix:String})
    ORDER BY toUInt32(splitByChar('/', project_id)[2])`,
    { prefix: `${entity}/` },
  )

const NO_CALL: Row = {
  op_name: null,
  op: null,
  display_name: null,
  names: [],
  trace_id: null,
  parent_id: null,
  thread_id: null,
  turn_id: null,
  ended_at: null,
  end_status: null,
  exception: null,
  attributes: null,
  inputs: null,
  output: null,
  summary: null,
  otel_dump: null,
  wb_user_id: null,
  wb_run_id: null,
  wb_run_step: null,
  wb_run_step_end: null,
  start_bytes: null,
  end_bytes: null,
  started_position: null,
  ended_position: null,
  deleted_position: null,
}

export const expectedCalls = (events: readonly ProjectedEvent[]): readonly Row[] =>
  (events as readonly Positioned[]).flatMap((event): Row[] => {
    const position = Number(event.position)
    switch (event.type) {
      case 'CallStarted': {
        const { id, op_name, display_name, trace_id, parent_id, thread_id, turn_id } = event.data
        const { wb_user_id, wb_run_id, wb_run_step } = event.data
        const attributes = JSON.stringify(event.data.attributes)
        const inputs = JSON.stringify(event.data.inputs)
        const otel_dump = event.data.otel_dump && JSON.stringify(event.data.otel_dump)
        return [
          {
            ...NO_CALL,
            ...{ id, op_name, op: opOf(op_name), display_name, trace_id, parent_id, thread_id, turn_id },
            ...{ wb_user_id, wb_run_id, wb_run_step, attributes, inputs, otel_dump },
            started_at: printed(event.data.started_at),
            start_bytes: Buffer.byteLength(attributes + inputs + (otel_dump ?? '')),
            started_position: position,
          },
        ]
      }
      case 'CallEnded': {
        const { id, exception, wb_run_step_end, start } = event.data
        if (start === null) return []
        const output = JSON.stringify(event.data.output)
        const summary = JSON.stringify(event.data.summary)
        return [
          {
            ...NO_CALL,
            ...{ id, exception, wb_run_step_end, output, summary },
            started_at: printed(start.started_at),
            ended_at: printed(event.data.ended_at),
            end_status: endStatus(exception, event.data.summary),
            end_bytes: Buffer.byteLength(output + summary + (exception ?? '')),
            ended_position: position,
          },
        ]
      }
      case 'CallRenamed': {
        const { id, started_at, display_name } = event.data
        if (started_at === null) return []
        return [{ ...NO_CALL, id, started_at: printed(started_at), names: [[position, display_name ?? '']] }]
      }
      case 'CallDeleted': {
        const { id, started_at } = event.data
        return started_at === null
          ? []
          : [{ ...NO_CALL, id, started_at: printed(started_at), deleted_position: position }]
      }
      default:
        return []
    }
  })

const NO_FACT: Row = {
  started_position: 0,
  ended_position: 0,
  deleted_position: 0,
  parent_id: '',
  started_at: '1970-01-01 00:00:00.000000',
  ended_at: '1970-01-01 00:00:00.000000',
  source: '',
  status_total: null,
  models: [],
  figures: [],
  op: '',
  wb_user_id: '',
  thread_id: '',
  wb_run_id: '',
  status: '',
}

export const expectedFacts = (events: readonly ProjectedEvent[]): readonly Row[] =>
  (events as readonly Positioned[]).flatMap((event): Row[] => {
    const position = Number(event.position)
    switch (event.type) {
      case 'CallStarted': {
        const { id, trace_id, end } = event.data
        const ended =
          end === null
            ? {}
            : { ...reported(end.usage), ...{ ended_position: position }, ...endOf({ ...end, summary: null }) }
        return [
          {
            ...NO_FACT,
            ...{ call_id: id, trace_id, position, started_position: position },
            ...startOf(event.data),
            op: opOf(event.data.op_name),
            wb_user_id: event.data.wb_user_id ?? '',
            thread_id: event.data.thread_id ?? '',
            wb_run_id: event.data.wb_run_id ?? '',
            ...ended,
          },
        ]
      }
      case 'CallEnded': {
        const { id, usage, start } = event.data
        if (start === null) return []
        return [
          {
            ...NO_FACT,
            ...{ call_id: id, trace_id: start.trace_id, position, ended_position: position },
            ...startOf(start),
            ...reported(usage),
            ...endOf(event.data),
          },
        ]
      }
      case 'CallDeleted': {
        const { id, trace_id } = event.data
        if (trace_id === null) return []
        return [{ ...NO_FACT, call_id: id, trace_id, position, deleted_position: position }]
      }
      default:
        return []
    }
  })

interface Start {
  readonly parent_id: string | null
  readonly started_at: string
  readonly source: string | null
}

const startOf = ({ parent_id, started_at, source }: Start): Row => ({
  parent_id: parent_id ?? '',
  started_at: printed(started_at),
  source: source ?? '',
})

const endOf = ({
  ended_at,
  exception,
  summary,
}: Pick<CallEnded, 'ended_at' | 'exception'> & { readonly summary: Json }): Row => ({
  ended_at: printed(ended_at),
  status: endStatus(exception, summary),
})

const reported = ({ models, status_total }: ReportedUsage): Row => ({
  status_total,
  models: models.map(({ model }) => model),
  figures: models.flatMap((model) => FIGURES.map((figure) => model[figure])),
})

/** An instant as ClickHouse prints it. */
const printed = (instant: string): string => instant.replace('T', ' ').replace('Z', '')
