export interface PageAction {
  readonly label: string
  readonly run: () => void
}

const MAX_LABEL = 60

/** Rows have buttons of their own, which mean nothing without the row. */
const IN_ROWS = 'table, ol, ul, [role=row], [role=tree], [role=tablist], [role=group], .json-row'

/** What the buttons of the open page do, by their names. */
export const pageActions = (): readonly PageAction[] => {
  const actions = new Map<string, PageAction>()
  const buttons = document.querySelectorAll<HTMLElement>('#content button, #content a.mantine-Button-root')
  for (const button of buttons) {
    const label = (button.getAttribute('aria-label') ?? button.textContent).trim()
    const isUsable = !button.matches(':disabled, [role]') && button.checkVisibility()
    if (label === '' || label.length > MAX_LABEL || !isUsable || button.closest(IN_ROWS) !== null) continue
    if (!actions.has(label)) actions.set(label, { label, run: () => button.click() })
  }
  return [...actions.values()]
}
