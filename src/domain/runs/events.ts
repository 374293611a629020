import type * as t from 'io-ts'
import { arrayOf, nullable, nullableText, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import type { EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'
import { spilledFields } from '../../kernel/spill/fields.js'

export const runName = textUpToBytes(256)
export const metricName = textUpToBytes(256)

/** How a run ended: successfully, with a failure, or killed by a user. */
export const endState = oneOf('finished', 'failed', 'crashed', 'killed')
export type EndState = t.TypeOf<typeof endState>

/** Every event repeats project and name of its run, so that readers need no look-up. */
const required = { project_id: projectId, run_id: id, name: runName, user: string }

const runStarted = open('RunStarted', {
  says: 'A run started.',
  required: { ...required, started_at: instant },
})

/** What people say of a run, and where its program ran. */
export const runDetails = open('RunDetails', {
  optional: {
    group: nullableText(string),
    job_type: nullableText(string),
    notes: nullableText(string),
    tags: withDefault(arrayOf(string), [] as readonly string[]),
    host: nullableText(string),
    commit: nullableText(string),
    program: nullableText(string),
    repository: nullableText(string),
  },
})
export type RunDetails = t.TypeOf<typeof runDetails>

export const forkPoint = open('ForkPoint', {
  says: 'The run of the same project whose rows up to a step a run begins with.',
  required: { run_id: id, step: int64 },
})
export type ForkPoint = t.TypeOf<typeof forkPoint>

const runDescribed = open('RunDescribed', {
  says:
    "A run's name, details or configuration changed. `details` are all of them; `config` is the JSON text of the whole " +
    'configuration, null if it did not change. `forked_from` is only in the first one of a run.',
  required: { ...required, details: runDetails },
  optional: { forked_from: nullable(forkPoint), config: nullable(string), spilled: spilledFields },
})

const metricsLogged = open('MetricsLogged', {
  says: 'A run logged metrics. Each step of a run is logged once.',
  required: { ...required, metrics: recordOf(number) },
  optional: { step: nullable(int64) },
})

const historyLogged = open('HistoryLogged', {
  says:
    'A run logged lines of its history, JSON objects as text, or replaced its summary. `offset` is the number of the first line, ' +
    'which its writer counts; `writer` is null unless the client names it. Steps may repeat. `stepless` is the number of lines ' +
    'without a step, null in older logs. Times are the `_timestamp` of lines.',
  required: { ...required, offset: int64, rows: int64 },
  optional: {
    min_step: nullable(int64),
    max_step: nullable(int64),
    writer: nullable(string),
    stepless: nullable(int64),
    min_time: nullable(number),
    max_time: nullable(number),
    lines: nullable(arrayOf(string)),
    /** The JSON text of the whole summary, null if it did not change. */
    summary: nullable(string),
    spilled: spilledFields,
  },
})

/** What a program writes in addition to its history: metrics of its machine, and what it prints. */
export const outputFile = oneOf('system', 'console')
export type OutputFile = t.TypeOf<typeof outputFile>

const runOutputLogged = open('RunOutputLogged', {
  says:
    'A run logged system metrics, JSON objects as text, or lines of its console. `offset` is the number of the first line, which ' +
    'its writer counts; a line of a console replaces an earlier one with its number. `length` is in UTF-16 code units.',
  required: { ...required, file: outputFile, offset: int64, rows: int64, length: int64 },
  optional: {
    writer: nullable(string),
    min_time: nullable(number),
    max_time: nullable(number),
    lines: nullable(arrayOf(string)),
    spilled: spilledFields,
  },
})

const runFileStored = open('RunFileStored', {
  says: 'A file of a run was stored, in place of an earlier one with the same path. `blob` is the SHA-256 of its content.',
  required: { ...required, path: string, blob: string, md5: string, size: int64, stored_at: instant },
})

const runFileDeleted = open('RunFileDeleted', {
  says: 'A file of a run was deleted. Its content is kept.',
  required: { ...required, path: string, deleted_at: instant },
})

const artifactUsed = open('ArtifactUsed', {
  says: 'A run used a version of an artifact as its input.',
  required: { ...required, artifact_id: id, source_project: projectId, collection: string, used_at: instant },
})

const runFinished = open('RunFinished', {
  says: 'A run finished.',
  required: { ...required, state: endState, ended_at: instant },
})

const runFailed = open('RunFailed', {
  says: 'A run failed.',
  required: { ...required, state: endState, ended_at: instant },
})

const runResumed = open('RunResumed', {
  says: 'A run that had ended continues.',
  required: { ...required, resumed_at: instant },
})

const runSeen = open('RunSeen', {
  says: 'The program of a run is alive. Written when it has logged nothing for 30 seconds.',
  required: { ...required, seen_at: instant },
})

const runStopRequested = open('RunStopRequested', {
  says: 'A user asked for the end of a run, which its program hears with the next answer.',
  required: { ...required, requested_at: instant },
})

const runDeleted = open('RunDeleted', {
  says: 'A run was deleted. Its id is not used again.',
  required: { ...required, deleted_at: instant },
})

export const runEvents = {
  RunStarted: runStarted,
  RunDescribed: runDescribed,
  MetricsLogged: metricsLogged,
  HistoryLogged: historyLogged,
  RunOutputLogged: runOutputLogged,
  RunFileStored: runFileStored,
  RunFileDeleted: runFileDeleted,
  ArtifactUsed: artifactUsed,
  RunFinished: runFinished,
  RunFailed: runFailed,
  RunResumed: runResumed,
  RunSeen: runSeen,
  RunStopRequested: runStopRequested,
  RunDeleted: runDeleted,
}

export type RunEvent = EventOf<typeof runEvents>
export type RunStarted = t.TypeOf<typeof runStarted>
export type MetricsLogged = t.TypeOf<typeof metricsLogged>
export type HistoryLogged = t.TypeOf<typeof historyLogged>
export type RunOutputLogged = t.TypeOf<typeof runOutputLogged>
export type RunFileStored = t.TypeOf<typeof runFileStored>

export const runStream = (projectId: string, run: string): string => `run-${projectId}/${run}`
