import { noSuch } from '../../application/evaluations/logged-runs.js'
import { callPages } from '../../application/evaluations/parsed-call.js'
import { orInvalid } from '../../application/evaluations/referenced-objects.js'
import { requireNotDeleted, versionsFromLog } from '../../application/objects/object-from-log.js'
import type { Services } from '../../application/services.js'
import {
  columnsOf,
  isLeaderboard,
  type LeaderboardColumn,
  newLeaderboard,
} from '../../domain/evaluations/leaderboard.js'
import { RUN_OP, textOf } from '../../domain/evaluations/run-calls.js'
import { objectId } from '../../domain/objects/events.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, json, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { isJsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { inBody } from '../server/authorization.js'
import { readProject } from '../server/route-kinds.js'
import type { AnyRoute } from '../server/route.js'

const column = open('LeaderboardColumn', {
  required: { evaluation_object_ref: string, scorer_name: string, summary_metric_path: string },
  optional: { should_minimize: nullable(boolean), error: nullable(string) },
})

const cell = open('LeaderboardCell', {
  required: { value: json, evaluation_run_id: string, started_at: instant },
})

const leaderboard = open('Leaderboard', {
  required: {
    object_id: string,
    digest: string,
    columns: arrayOf(column),
    models: arrayOf(
      open('LeaderboardModel', { required: { model: string, cells: arrayOf(nullable(cell)) } }),
    ),
  },
  optional: { name: nullable(string), description: nullable(string) },
})

const leaderboardRead = closed('LeaderboardReadRequest', {
  required: { project_id: projectId, object_id: objectId },
  optional: { digest: withDefault(string, 'latest', true) },
})

/** `/leaderboards/read`: a Leaderboard object of an SDK with the values of its cells. */
export const leaderboardRoute = (
  services: Pick<Services, 'eventStore' | 'blobs' | 'access' | 'reading'>,
): AnyRoute => {
  const readVersion = versionsFromLog(services)
  return readProject(services, {
    method: 'post',
    path: '/leaderboards/read',
    summary: 'Read a Leaderboard object with its cells: the newest run of each evaluation and model.',
    body: leaderboardRead,
    response: leaderboard,
    project: inBody,
    handle:
      ({ body: { object_id, digest }, project, reader }) =>
      async (position) => {
        const named = { projectId: project, objectId: object_id, version: digest }
        const version = await readVersion({ ...named, position, withVal: true })
        if (version?.val === null || version === undefined) throw noSuch('Leaderboard')
        const val = parseJson(version.val)
        if (!isLeaderboard(val)) throw noSuch('Leaderboard')
        requireNotDeleted(version)
        const columns = orInvalid(['object_id'], columnsOf(val))
        const body = {
          object_id,
          digest: version.digest,
          name: textOf(val['name']),
          description: textOf(val['description']),
          columns: columns.map((one) => ({ ...one })),
          models: await modelsOf(reader, project, columns, position),
        }
        return { body }
      },
  })
}

/** The models that were evaluated, with the newest run of each evaluation. */
const modelsOf = async (
  reader: ClickHouseReader,
  projectId: string,
  columns: readonly LeaderboardColumn[],
  position: Position,
) => {
  const board = newLeaderboard(columns)
  const valid = columns.filter(({ error }) => error === null)
  const input_refs = [...new Set(valid.map(({ evaluation_object_ref: ref }) => ref))]
  const question = { projectId, filter: { ...NO_FILTER, op_names: [RUN_OP], input_refs }, position }
  if (input_refs.length > 0)
    for await (const runs of callPages(reader, question, ['inputs', 'output']))
      for (const { id, inputs, started_at, ended_at, output } of runs) {
        const [evaluation, model] = [textOf(inputs['self']), textOf(inputs['model'])]
        if (evaluation === null || model === null || ended_at === null || !isJsonObject(output)) continue
        board.add({ id, evaluation, model, started_at, summary: output })
      }
  return board.rows().map(({ model, cells }) => ({ model, cells: cells.map((one) => one && { ...one }) }))
}
