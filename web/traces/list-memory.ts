/** The list that a trace was opened from, so that its neighbours can be visited, also after a reload. */
export interface OpenedList {
  readonly ids: readonly string[]
  /** The address of the list. */
  readonly href: string
  /** The id of the row that was opened, selected again on the way back. */
  readonly opened: string
}

const keyOf = (projectId: string): string => `tallytree.list.${projectId}`

export const rememberList = (projectId: string, list: OpenedList): void => {
  try {
    sessionStorage.setItem(keyOf(projectId), JSON.stringify(list))
  } catch {
    // Without storage a trace has no neighbours.
  }
}

export const openedList = (projectId: string): OpenedList | null => {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(projectId)) ?? 'null') as OpenedList | null
  } catch {
    return null
  }
}
