import type { FileEvent } from './events.js'

export interface StoreFile {
  readonly type: 'StoreFile'
  readonly file: FileEvent['data']
}
