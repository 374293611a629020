import type { Ports } from '../../kernel/ports/ports.js'
import type { Services } from '../../application/services.js'
import type { LogHistory } from '../../domain/runs/commands.js'
import {
  historyLineInSteps,
  rowInSteps,
  stepIn,
  type HistoryLine,
  type WrittenLines,
} from '../../domain/runs/history.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { nullable } from '../../kernel/codec/containers.js'
import { boolean, json } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { Runs } from '../../application/runs/runs.js'
import { inPath } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { writeProject } from '../server/route-kinds.js'
import { writing } from '../server/run.js'
import { runInPath } from './runs.js'

const fileStream = open('FileStream', {
  says:
    '`files` have `wandb-history.jsonl`, `wandb-summary.json` and `wandb-events.jsonl`, each `{"offset", "content"}` with lines of JSON, ' +
    'and `output.log` with lines of text. `complete` ends the run, failed unless `exitcode` is 0.',
  optional: { files: nullable(json), complete: nullable(json), exitcode: nullable(json) },
})

const fileStreamed = open('FileStreamed', {
  says: '`stopped` asks the program to end.',
  optional: { stopped: nullable(boolean) },
})

/**
 * What the package `wandb` sends while a run goes on. Content is never refused: the package would stop sending for good,
 * and lose the rest of the history.
 */
export const fileStreamRoute = (
  services: Pick<Services, keyof Ports | 'access' | 'reading' | 'throttle'>,
  runs: Runs,
): AnyRoute =>
  writeProject(services, {
    method: 'post',
    path: '/files/:entity/:project/:run/file_stream',
    summary:
      'Logs lines of the history, the system metrics and the console of a run, its summary, or its end, as the package `wandb` does. A line that was logged before ' +
      'under its number is a repeat. Programs that log to one run at once are told apart by X-WANDB-ASYNC-CLIENT-ID.',
    requestHeaders: ['X-WANDB-ASYNC-CLIENT-ID'],
    body: fileStream,
    errors: ['conflict'],
    response: fileStreamed,
    project: inPath,
    handle: async (request) => {
      const { body, project: project_id } = request
      const files = objectIn(body.files)
      const summary = linesIn(files['wandb-summary.json']).at(-1) ?? null
      const run_id = runInPath(request)
      const writer = writerIn(request.headers['x-wandb-async-client-id'])
      const command: LogHistory = {
        type: 'LogHistory',
        project_id,
        run_id,
        sent: await sentLines(files['wandb-history.jsonl'], writer, historyLineInSteps),
        output: {
          system: await sentLines(files['wandb-events.jsonl'], writer, historyLineInSteps),
          console: await sentLines(files['output.log'], writer, consoleLine),
        },
        summary: summary !== null && (await rowInSteps(summary)) !== undefined ? summary : null,
        isQuiet: await isQuiet(services, runs, project_id, run_id),
        end: body.complete === true ? (body.exitcode === 0 ? 'finished' : 'failed') : null,
        now: instantOf(services.clock.now()),
      }
      return writing(
        (cause) => runs.write(command, cause),
        ({ state: { stopRequested, ended } }) => (stopRequested && ended === null ? { stopped: true } : {}),
      )
    },
  })

/** Of the name of a writer, which clients choose at random. */
const MAX_WRITER = 256

const writerIn = (header: string | readonly string[] | undefined): string | null =>
  typeof header === 'string' && header !== '' ? header.slice(0, MAX_WRITER) : null

/** Clients send a sign of life every 30 seconds. */
const QUIET_MS = 30_000

/** Whether the log has heard nothing of the run for a while. */
const isQuiet = async ({ clock }: Pick<Ports, 'clock'>, runs: Runs, project: string, run: string) => {
  const updatedAt = await runs.read(project, run, (kept) => kept.updatedAt)
  return updatedAt != null && clock.now().getTime() - Date.parse(updatedAt) >= QUIET_MS
}

const objectIn = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})

const linesIn = (file: Json | undefined): readonly string[] => {
  const { content } = objectIn(file)
  return Array.isArray(content) ? content.map((line) => (typeof line === 'string' ? line : '')) : []
}

const sentLines = async (
  file: Json | undefined,
  writer: string | null,
  lineOf: (text: string) => HistoryLine | Promise<HistoryLine>,
): Promise<WrittenLines> => {
  const pause = yielding()
  const lines: HistoryLine[] = []
  for (const text of linesIn(file)) {
    lines.push(await lineOf(text))
    await pause()
  }
  return { offset: stepIn(objectIn(file)['offset']) ?? 0, lines, writer }
}

const consoleLine = (text: string): HistoryLine => ({ text, step: null, time: null })
