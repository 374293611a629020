import type { RedriveAsked } from './events.js'

export interface AskRedrive {
  readonly type: 'AskRedrive'
  readonly redrive: RedriveAsked
}
