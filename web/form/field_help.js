// Shows the help of the field that has the focus. What it moves must not slip away from under a finger or the mouse, so it changes
// only once the press that moved the focus is over.
export function helpBeside(form) {
  let isPressed = false;
  const show = () => {
    if (isPressed) return;
    const focused = form.contains(document.activeElement) ? document.activeElement.closest('.field') : null;
    for (const one of form.querySelectorAll('.field.reading')) one.classList.toggle('reading', one === focused);
    focused?.classList.add('reading');
  };
  const soon = () => setTimeout(show);
  document.addEventListener('pointerdown', () => (isPressed = true), true);
  for (const end of ['pointerup', 'pointercancel']) {
    document.addEventListener(
      end,
      () => {
        isPressed = false;
        soon();
      },
      true,
    );
  }
  for (const moved of ['focusin', 'focusout']) form.addEventListener(moved, soon);
}
