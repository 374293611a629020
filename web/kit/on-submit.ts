interface Submission {
  readonly preventDefault: () => void
  readonly stopPropagation: () => void
}

/** Handles a form without leaving the page, nor submitting a form around it. */
export const onSubmit = (act: () => void) => (event: Submission) => {
  event.preventDefault()
  event.stopPropagation()
  act()
}
