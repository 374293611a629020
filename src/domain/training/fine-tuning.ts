import type * as t from 'io-ts'
import { nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, jsonObject, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { nothing, refused, type Decider, type Decision, type EventOf } from '../../kernel/decider.js'
import { id, projectId } from '../../kernel/ids.js'

const inProject = { project_id: projectId }

const dataFileUploaded = open('DataFileUploaded', {
  says: 'A file for fine-tuning was uploaded. `blob` is the SHA-256 of its content.',
  required: {
    ...inProject,
    file_id: id,
    filename: string,
    purpose: string,
    blob: string,
    bytes: int64,
    uploaded_at: instant,
  },
})

const dataFileDeleted = open('DataFileDeleted', {
  says: 'A file for fine-tuning was deleted. Jobs that were created with it have its content.',
  required: { ...inProject, file_id: id },
})

const fineTuningCreated = open('FineTuningCreated', {
  says: 'A fine-tuning job was created through the API of OpenAI. `given` is what its client sent.',
  required: {
    ...inProject,
    job_id: id,
    model_id: id,
    model_name: string,
    given: jsonObject,
    created_at: instant,
  },
  optional: {
    seed: nullable(int64),
    /** Used by the job, without `auto`. */
    hyperparameters: nullable(jsonObject),
  },
})

export const fineTuningEvents = {
  DataFileUploaded: dataFileUploaded,
  DataFileDeleted: dataFileDeleted,
  FineTuningCreated: fineTuningCreated,
}
export type FineTuningEvent = EventOf<typeof fineTuningEvents>
export type DataFile = t.TypeOf<typeof dataFileUploaded>
export type FineTuning = t.TypeOf<typeof fineTuningCreated>

export const fineTuningStream = (project: string): string => `fine_tuning-${project}`

export interface FineTuningState {
  /** By id, the oldest first. */
  readonly files: Map<string, DataFile>
  readonly jobs: Map<string, FineTuning>
}

export type FineTuningCommand =
  | { readonly type: 'AddDataFile'; readonly file: DataFile }
  | { readonly type: 'DeleteDataFile'; readonly project_id: string; readonly file_id: string }
  | { readonly type: 'AddFineTuning'; readonly job: FineTuning }

const decide = ({ files, jobs }: FineTuningState, command: FineTuningCommand): Decision<FineTuningEvent> => {
  switch (command.type) {
    case 'AddDataFile':
      return files.has(command.file.file_id)
        ? nothing
        : { events: [{ type: 'DataFileUploaded', data: command.file }] }
    case 'DeleteDataFile': {
      const { project_id, file_id } = command
      return files.has(file_id)
        ? { events: [{ type: 'DataFileDeleted', data: { project_id, file_id } }] }
        : refused('not-found', `There is no file ${file_id} in the project.`)
    }
    case 'AddFineTuning':
      return jobs.has(command.job.job_id)
        ? nothing
        : { events: [{ type: 'FineTuningCreated', data: command.job }] }
    default:
      return command satisfies never
  }
}

/** The files and fine-tuning jobs of a project. */
export const fineTuningDecider: Decider<FineTuningState, FineTuningCommand, FineTuningEvent> = {
  initialState: () => ({ files: new Map(), jobs: new Map() }),
  evolve: (state, event) => {
    switch (event.type) {
      case 'DataFileUploaded':
        state.files.set(event.data.file_id, event.data)
        return state
      case 'DataFileDeleted':
        state.files.delete(event.data.file_id)
        return state
      case 'FineTuningCreated':
        state.jobs.set(event.data.job_id, event.data)
        return state
      default:
        // A newer release may have written an event type that this one does not know.
        return state
    }
  },
  decide,
}
