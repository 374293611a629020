import { nothing, type Decider } from '../../kernel/decider.js'
import type { StoreFile } from './commands.js'
import type { FileEvent } from './events.js'

interface FileState {
  readonly stored: boolean
}

export const fileDecider: Decider<FileState, StoreFile, FileEvent> = {
  initialState: () => ({ stored: false }),
  evolve: (state, { type }) => ((type as string) === 'FileStored' ? { stored: true } : state),
  decide: ({ stored }, { file }) => (stored ? nothing : { events: [{ type: 'FileStored', data: file }] }),
}
