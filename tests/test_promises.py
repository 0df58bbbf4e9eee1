"""Guarantees that users rely on, and the names of the tests that check them.

This test fails if one of these tests is renamed or removed: give the name of the test that checks the guarantee now.
"""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

PROMISES = {
    # Nothing that a person made is lost
    "an output is never an input": "cli/test_never_lost.py::test_an_output_is_never_an_input_even_by_force",
    "files of others are replaced only by force":
        "cli/test_never_lost.py::test_a_file_of_somebody_else_is_replaced_only_by_force",
    "picks with labels are somebody's work": "cli/test_never_lost.py::test_picks_with_labels_are_somebodys_work",
    "picks carry their cells and go back with labels":
        "cli/test_never_lost.py::test_picks_are_given_back_with_their_labels",
    "the answer does not travel to annotators": "cli/test_never_lost.py::test_the_answer_does_not_travel",
    # Nothing is silently wrong
    "columns named like an answer are left out":
        "tables/test_schema.py::test_columns_named_like_an_answer_are_left_out",
    "a column equal to the labels is left out":
        "cli/test_messy_tables.py::test_a_column_that_repeats_the_labels_is_left_out",
    "--with brings a column back": "cli/test_messy_tables.py::test_with_brings_a_column_back",
    "plan does not read the answer": "cli/test_messy_tables.py::test_the_plan_does_not_read_the_answer_from_the_pool",
    "what is used and left out is said": "cli/test_messy_tables.py::test_what_is_used_and_left_out_is_said",
    "tables of ids and answers alone are refused":
        "tables/test_schema.py::test_a_table_of_nothing_but_ids_and_answers_is_refused",
    "a table in a text file is refused": "io/test_text_files.py::test_a_table_in_a_text_file_is_refused",
    "separators and encodings": "io/test_text_files.py::test_encodings_and_separators_are_found_out",
    "decimal commas": "io/test_text_files.py::test_decimal_commas",
    "Excel": "io/test_tables.py::test_excel",
    "columns named like an id name the rows": "tables/test_schema.py::test_columns_named_like_an_id_name_the_rows",
    "the unnamed first column names the rows": "tables/test_schema.py::test_an_unnamed_first_column_names_the_rows",
    "duplicate and empty ids are errors": "tables/test_schema.py::test_a_column_called_id_must_name_each_row",
    "a pool in another order is refused": "cli/test_fingerprint.py::test_a_pool_in_another_order_is_refused",
    "codes are no features unless asked for":
        "tables/test_schema.py::test_codes_are_features_only_where_they_are_chosen",
    "words become numbers": "tables/test_words.py::test_words_become_numbers",
    "words that became numbers are said": "tables/test_schema.py::test_words_that_are_numbers_are_said",
    "classes are counted, odd ones said": "cli/test_messy_tables.py::test_classes_are_counted_and_odd_ones_are_said",
    # Missing values, rare classes, predictions
    "missing values are filled in, dropped or refused": "cli/test_messy_tables.py::test_missing_values",
    "an indicator where values are often missing":
        "tables/test_features.py::test_a_column_that_is_often_missing_gets_an_indicator",
    "missing values of frames": "tables/test_frames.py::test_rows_with_missing_values_are_not_picked_if_dropped",
    "empty texts are left out": "cli/test_messy_tables.py::test_empty_texts_are_left_out_and_rows_keep_their_numbers",
    "unreadable images are named": "cli/test_select.py::test_unreadable_images_are_named_and_skipped",
    "balanced accuracy where one class is most rows":
        "cli/test_compare.py::test_where_one_class_is_most_rows_accuracy_and_balanced_accuracy_are_both_shown",
    "plan shows balanced accuracy too":
        "evaluate/test_plan.py::test_balanced_accuracy_stands_beside_accuracy_where_one_class_is_most_labels",
    "plan claims what its interval does":
        "evaluate/test_plan.py::test_what_is_said_about_a_target_is_what_the_interval_says",
    # Texts and images
    "languages without spaces": "embed/test_texts.py::test_languages_without_spaces",
    "very short texts": "embed/test_texts.py::test_very_short_texts",
    "images of every kind": "embed/test_image_formats.py::test_pixels_and_thumbnails_of_every_kind_of_image",
    "images of several pages": "embed/test_image_formats.py::test_of_pages_and_frames_the_first_counts",
    "contact sheets of rows and texts": "cli/test_select.py::test_contact_sheets_of_rows_and_texts",
    "Label Studio's settings": "io/test_label_studio.py::test_images_are_addressed_below_the_document_root",
    "annotators who differ": "io/test_labels.py::test_annotators_who_differ_are_outvoted_or_listed",
    "a round trip through Label Studio": "io/test_label_studio.py::test_there_and_back",
    # Where it runs
    "an install that cannot be written":
        "cli/test_environments.py::test_an_install_that_cannot_be_written_picks_the_same",
    "the kernels' cache is not writable":
        "backends/test_kernel_cache.py::test_without_a_writable_folder_there_is_a_private_temporary_one",
    "the kernels' cache is damaged":
        "backends/test_kernel_cache.py::test_kernels_are_kept_and_damaged_ones_compiled_again",
    "the kernels' cache is on a full disk": "backends/test_kernel_cache.py::test_a_full_disk_is_no_error",
    "compiling is said": "backends/test_kernel_cache.py::test_compiling_is_reported_when_it_happens",
    "NumPy's generators are seeds": "test_bad_input.py::test_a_generator_is_a_seed",
    "NaN in a frame is named by its column": "test_bad_input.py::test_nan_in_a_frame_is_named_by_its_column",
    "a budget may be a share": "cli/test_never_lost.py::test_a_budget_may_be_a_share",
    "a forecast measures little": "cli/test_cost.py::test_a_quick_run_is_measured_on_few_rows",
    # Faults, hostile files, limits
    "a kill leaves whole files and their record":
        "runtime/test_outputs.py::test_a_kill_at_any_step_leaves_whole_files_and_a_record_of_them",
    "a rerun brings no older picks back":
        "cli/test_records.py::test_a_rerun_after_a_kill_never_brings_older_picks_back",
    "records that are traps": "cli/test_records.py::test_a_record_that_is_wrong_or_somebodys_trap_is_refused",
    "gains of another CPU": "cli/test_records.py::test_gains_of_another_type_of_cpu_are_the_same_picks",
    "a small disk":
        "runtime/test_small_disk.py::test_a_scratch_file_that_does_not_fit_is_one_line_before_anything_is_copied",
    "a file that is cut while it is read":
        "runtime/test_signals.py::test_a_file_that_is_cut_while_it_is_mapped_is_named_in_one_line",
    "damaged files": "fuzz/test_fuzz.py::test_damaged_files_are_read_or_refused_in_one_line",
    "damaged files of the past": "fuzz/test_fuzz.py::test_what_once_broke_a_reader_is_read_or_refused_in_one_line",
    "messages are one short line":
        "runtime/test_files.py::test_messages_are_one_line_of_at_most_300_printable_characters",
    "compare locks its folder":
        "cli/test_two_runs.py::test_every_file_that_a_command_writes_is_written_by_one_run",
    "temporary files of others":
        "runtime/test_files.py::test_temporary_files_of_others_are_neither_taken_nor_swept_while_they_live",
    "links and modes are kept": "runtime/test_files.py::test_a_link_and_the_mode_of_what_is_replaced_are_kept",
    "memory is sized before reading":
        "cli/test_memory_limit.py::test_files_that_are_read_as_a_whole_are_refused_before_they_are_read",
    "the memory limit is kept": "cli/test_memory_limit.py::test_the_limit_that_is_named_is_kept",
    "images of too many pixels": "embed/test_image_formats.py::test_images_of_too_many_pixels_are_not_decoded",
    "formulas are escaped on request": "cli/test_never_lost.py::test_formulas_are_escaped_on_request",
    "terminals are not told what to do": "cli/test_never_lost.py::test_terminals_are_not_told_what_to_do",
    "output that is not UTF-8": "cli/test_never_lost.py::test_output_that_is_not_utf8_and_file_names_that_are_not",
    "cp1252": "cli/test_environments.py::test_everything_is_printed_where_the_terminal_is_cp1252",
    "NaN is refused by every strategy": "strategies/test_contract.py::test_nan_and_infinity_are_refused",
    "sixty mistakes": "cli/test_mistakes.py::test_a_mistake_is_answered_in_one_line_with_the_remedy",
}  # fmt: skip


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_has_its_test(promise):
    file, _, name = PROMISES[promise].partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
