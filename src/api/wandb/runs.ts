import type { RunPlace } from '../../application/runs/history.js'
import type { HistorySpec } from '../../application/runs/sampled-history.js'
import type { StepRange } from '../../application/runs/step-range.js'
import type { KeptRun } from '../../application/runs/runs.js'
import { consoleOf } from '../../application/runs/console.js'
import { storedText } from '../../application/runs/run-texts.js'
import { Failure } from '../../application/failure.js'
import type { RunFileStored } from '../../domain/runs/events.js'
import { rowInSteps, rowOf } from '../../domain/runs/history.js'
import { id as idCodec, entityOf as entityNameOf, projectNameOf } from '../../kernel/ids.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { connectionOf, MAX_PAGE, type Caller, type PageOf } from './caller.js'
import { idOf } from './ids.js'
import { artifactsMadeBy, artifactsUsedBy } from './lineage.js'
import { filesOfRun, type RunFilesAsked } from './run-files.js'
import { userOf } from './viewer.js'

const MAX_SAMPLES = 10_000

/** The run with this id; null if the project has none. */
export const runNamed = async (caller: Caller, project: string, run: string) => {
  if (!idCodec.is(run)) return null
  const kept = await caller.runs.read(project, run, (kept) => ({
    ...kept,
    files: [...kept.state.files.values()],
  }))
  return kept === undefined ? null : runOf(caller, { project, run }, kept)
}

type ReadRun = KeptRun & { readonly files: readonly RunFileStored[] }

const runOf = (caller: Caller, place: RunPlace, { state, updatedAt, files }: ReadRun) => {
  const { details, ended, lines, output } = state
  const started = state.started!
  const { history, budget } = caller
  const config = async () => (await storedText(caller.services.blobs, state.config)) ?? '{}'
  return {
    __typename: 'Run',
    id: runId(place),
    name: place.run,
    displayName: started.name,
    description: details.notes,
    notes: details.notes,
    sweepName: null,
    state: ended ?? 'running',
    config,
    group: details.group,
    jobType: details.job_type,
    commit: details.commit,
    readOnly: false,
    tags: details.tags,
    createdAt: started.started_at,
    heartbeatAt: updatedAt,
    summaryMetrics: async () => (await storedText(caller.services.blobs, state.summary)) ?? '{}',
    systemMetrics: async () => JSON.stringify(await history.lastSystem(place)),
    historyLineCount: async () => lines + (await history.inherited(place)),
    logLineCount: output.console.lines,
    eventsLineCount: output.system.lines,
    historyTail: async () => {
      const line = await history.lastLine(place)
      return JSON.stringify(line === undefined ? [] : [line])
    },
    eventsTail: async () => JSON.stringify(await history.system(place, 1, budget)),
    wandbConfig: async ({ keys }: { readonly keys?: readonly string[] | null }) =>
      JSON.stringify(await clientConfig(await config(), keys ?? [])),
    user: () => userOf(started.user),
    projectId: 0,
    project: () => caller.nodes.project(caller, place.project),
    stopped: state.stopRequested,
    historyKeys: () => historyKeys(caller, place),
    history: ({ minStep = null, maxStep = null, samples }: Sampled) => {
      const range = { minStep, maxStep }
      const most = samplesOf(samples)
      if (minStep === null && maxStep === null) return history.sample(place, range, most, budget)
      return history.page(place, range, isPage(range, samples) ? Infinity : most, budget)
    },
    events: ({ samples }: Sampled) => history.system(place, samplesOf(samples), budget),
    sampledHistory: ({ specs }: { readonly specs: readonly string[] }) =>
      history.sampleOf(place, specsIn(specs), budget),
    parquetHistory: { parquetUrls: [], liveData: [] },
    fileCount: files.length,
    files: (asked: RunFilesAsked) => filesOfRun(caller, place, files, asked),
    outputArtifacts: (page: PageOf) => artifactsMadeBy(caller, place, page),
    inputArtifacts: (page: PageOf) => artifactsUsedBy(caller, place, page),
    logLines: (asked: LogLinesAsked) => logLines(caller, place, asked),
  }
}

interface LogLinesAsked extends PageOf {
  readonly last?: number | null
}

const logLines = async (caller: Caller, place: RunPlace, { last, ...page }: LogLinesAsked) => {
  const lines = await consoleOf(caller.runs, place)
  const shown = last == null ? lines : lines.slice(-Math.min(MAX_PAGE, Math.max(1, last)))
  return connectionOf(
    caller,
    shown,
    page,
    ({ number }) => String(number),
    (line) => line,
  )
}

interface Sampled {
  readonly minStep?: number | null
  readonly maxStep?: number | null
  readonly samples?: number | null
}

const samplesOf = (samples: number | null | undefined): number =>
  Math.min(MAX_SAMPLES, Math.max(0, samples ?? 500))

/** A page of clients has as many steps as samples. It has all rows of them: programs may repeat steps. */
const isPage = ({ minStep, maxStep }: StepRange, samples: number | null | undefined): boolean =>
  minStep !== null && maxStep !== null && samples != null && maxStep - minStep <= samples

export const runId = ({ project, run }: RunPlace): string =>
  idOf('Run', entityNameOf(project), projectNameOf(project), run)

/** Of the client's own settings in a configuration, those under these keys. */
export const clientConfig = async (config: string, keys: readonly string[]): Promise<JsonObject> => {
  const own = memberOf(memberOf(await rowInSteps(config), '_wandb'), 'value')
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = memberOf(own, key)
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

export const memberOf = (value: Json | undefined, key: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

const historyKeys = async ({ history }: Caller, place: RunPlace) => {
  const { keys, lastStep } = await history.keys(place)
  if (keys.size === 0) return null
  return {
    keys: Object.fromEntries(
      [...keys].map(([key, { types, lastValue }]) => [
        key,
        {
          typeCounts: Object.entries(types).map(([type, count]) => ({ type, count })),
          monotonic: false,
          previousValue: lastValue,
        },
      ]),
    ),
    sets: [],
    lastStep,
  }
}

const MAX_SPECS = 1000

const specsIn = (specs: readonly string[]): readonly HistorySpec[] => {
  if (specs.length > MAX_SPECS)
    throw new Failure('bad-request', `A request may have at most ${MAX_SPECS} specs of a sampled history.`)
  return specs.map(specIn)
}

const specIn = (text: string): HistorySpec => {
  const spec = rowOf(text)
  const keys = memberOf(spec, 'keys')
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string'))
    throw new Failure(
      'bad-request',
      'Each of specs should be JSON text of {keys, minStep, maxStep, samples}.',
    )
  const number = (name: string) => {
    const value = memberOf(spec, name)
    return typeof value === 'number' ? value : null
  }
  const maxStep = number('maxStep')
  const range = { minStep: number('minStep'), maxStep: maxStep === null ? null : maxStep + 1 }
  const samples = number('samples')
  return { keys: [...new Set(keys)], range, most: isPage(range, samples) ? Infinity : samplesOf(samples) }
}
