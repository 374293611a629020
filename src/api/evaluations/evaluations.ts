import type { EvaluationCall } from '../../domain/evaluation/run-calls.js'
import { id as idCodec } from '../../domain/ids.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Ports } from '../../domain/ports/ports.js'
import { Failure } from '../failure.js'
import type { ProjectWrites } from '../route-kinds.js'
import { foldedCall } from '../tracing/folded-call.js'
import { parsedCall } from './parsed-call.js'

export interface Evaluations extends ProjectWrites {
  readonly ports: Pick<Ports, 'eventStore' | 'blobs' | 'ids' | 'sha256' | 'clock'>
  readonly reader: ClickHouseReader
}

/** Where SDKs look for evaluations, their runs and what belongs to them. */
export const inV2 = (path: string): string => `/v2/:entity/:project/${path}`

/** A call as the log has it now; undefined where there is none. */
export const callNow =
  ({ ports }: Pick<Evaluations, 'ports'>) =>
  async (projectId: string, id: string): Promise<EvaluationCall | undefined> => {
    if (!idCodec.is(id)) return undefined
    const call = await foldedCall(ports)(projectId, id, await ports.eventStore.head())
    return call && parsedCall(call)
  }

export const noSuch = (what: string): Failure =>
  new Failure('not-found', `${what} not found in this project.`)
