/** A page in the rail and the palette. */
interface PageLink {
  readonly label: string
  /** Below the project, or below `/{team}/-/`; '' for the page of the project itself. */
  readonly path: string
  /** After `g`. */
  readonly key: string
}

export const PROJECT_PAGES: readonly PageLink[] = [
  { label: 'Overview', path: '', key: 'o' },
  { label: 'Traces', path: 'traces', key: 't' },
  { label: 'Threads', path: 'threads', key: 'h' },
  { label: 'Usage', path: 'usage', key: 'u' },
  { label: 'Evaluations', path: 'evaluations', key: 'e' },
  { label: 'Runs', path: 'runs', key: 'r' },
  { label: 'Training', path: 'training', key: 'm' },
  { label: 'History', path: 'history', key: 'l' },
]

export const TEAM_PAGES: readonly PageLink[] = [
  { label: 'Automations', path: 'automations', key: 'a' },
  { label: 'Deliveries', path: 'deliveries', key: 'd' },
  { label: 'Webhooks', path: 'webhooks', key: 'w' },
  { label: 'Gateway', path: 'gateway', key: 'y' },
  { label: 'Team settings', path: 'settings', key: 's' },
]

/** The address of a page of a project. */
export const projectHref = (team: string, project: string, path: string): string =>
  `/${team}/${project}${path === '' ? '' : `/${path}`}`
